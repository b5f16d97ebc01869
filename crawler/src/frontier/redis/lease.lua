-- Hands out URLs of hosts that are ready: worker, how many at most, whether the totals are wanted, and whether the
-- worker shows here that it is alive.
end_leases()
local worker, most = ARGV[FIRST_ARGUMENT], tonumber(ARGV[FIRST_ARGUMENT + 1])
for _, name in ipairs(call('ZRANGEBYSCORE', prefix .. 'resting', '-inf', now, 'LIMIT', 0, 1000)) do
  host_of(name).state = 'i'
end
write_hosts()
if ARGV[FIRST_ARGUMENT + 3] == '1' then
  call('HSET', prefix .. 'w:' .. worker, 'seen', now)
  call('SADD', prefix .. 'workers', worker)
end
local granted = {}
while #granted < most do
  local names = call('ZRANGE', prefix .. 'ready', 0, most - #granted - 1)
  if #names == 0 then break end
  for _, name in ipairs(names) do
    local host = host_of(name)
    local entry, priority, record = take(host)
    if entry then
      local fingerprint = string.sub(entry, 1, 8)
      local score = 0
      if record then
        score, record.stage = record.score, 1
        write_record(fingerprint, record)
      end
      figures.leased = figures.leased + 1
      granted[#granted + 1] = {hold(worker, host, fingerprint, priority, entry), name, entry, string.format('%.9g', score)}
    else
      host.pending = 0
    end
  end
  write_hosts()
end
local wait = -1
if #granted == 0 then
  local resting = figures.pending > 0 and call('ZRANGE', prefix .. 'resting', 0, 0, 'WITHSCORES') or {}
  local ends = call('ZRANGE', prefix .. 'ends', 0, 0, 'WITHSCORES')
  for _, found in ipairs({resting[2], ends[2]}) do
    local time = math.max(tonumber(found) - now, 0)
    if wait < 0 or time < wait then wait = time end
  end
  if wait < 0 and (figures.pending > 0 or figures.leased > 0) then wait = 1000 end
end
figures.version = figures.version + #granted
local totals = ARGV[FIRST_ARGUMENT + 2] == '1' and call('HGETALL', prefix .. 'totals') or {}
return finish({granted, wait, totals, figures.version, call('HLEN', prefix .. 'outbox')})
