-- Ends leases and adds links, as a whole and once: session, number of the batch, worker (empty where its position is
-- not kept here), position of its sink, state of its policy, how many leases, then of each fence, key, how it ends and
-- its record, then the links. Gives the fences of the leases that had ended before, what is
-- known of the links, and the totals.
end_leases()
local session, batch = ARGV[FIRST_ARGUMENT], tonumber(ARGV[FIRST_ARGUMENT + 1])
if (tonumber(call('HGET', prefix .. 'batches', session)) or 0) >= batch then
  return finish({{}, '', call('HGETALL', prefix .. 'totals')})
end
call('HSET', prefix .. 'batches', session, batch)
figures.version = figures.version + 1
local worker = ARGV[FIRST_ARGUMENT + 2]
if worker ~= '' then
  call('HSET', prefix .. 'w:' .. worker, 'position', ARGV[FIRST_ARGUMENT + 3], 'policy', ARGV[FIRST_ARGUMENT + 4])
end
local n_leases, lost, counted = tonumber(ARGV[FIRST_ARGUMENT + 5]), {}, {}
local function count(name, n) counted[name] = (counted[name] or 0) + n end
local at = FIRST_ARGUMENT + 6
local links = add_all(at + 4 * n_leases)
for _ = 1, n_leases do
  local lease = lease_of(ARGV[at], ARGV[at + 1])
  if not lease then
    lost[#lost + 1] = ARGV[at]
  else
    let_go(lease)
    local fingerprint, host = lease.key, host_of(lease.host)
    if host.holder == lease.fence then rest_host(host, FIRST_REST, false, false) end
    if ARGV[at + 2] == 'retry' then
      put_back(lease, false, math.min(attempts_of(lease) + 1, 255))
    else
      local outcome, bytes, milliseconds, paid = struct.unpack('>BI4I4f', ARGV[at + 3])
      local digest = string.sub(ARGV[at + 3], 14)
      count(tostring(outcome), 1)
      count('milliseconds', milliseconds)
      call('HINCRBY', prefix .. 'h:' .. host.name, 'z', milliseconds)
      if outcome == 0 then
        count('bytes', bytes)
        call('HINCRBY', prefix .. 'h:' .. host.name, 't', 1)
        call('HINCRBY', prefix .. 'h:' .. host.name, 'y', bytes)
        local key = prefix .. 'k:' .. host.name
        local first = digest ~= '0' and call('HGET', key, digest)
        if first and string.sub(first, 2, 9) == fingerprint then
          call('HSET', key, digest, '1' .. string.sub(first, 2))
        end
      end
      -- Only what a better claim would change is kept of the claim.
      local record, ends = record_of(fingerprint), ARGV[at + 2]
      local claim = record and record.claim
      if ends == 'unwanted' then
        claim = claim or {kind = 0, depth = 0, hops = 0, revivals = 0}
        claim = claim.kind == 0 and claim or nil
        if claim then claim.unwanted = 1 end
      elseif ends == 'leads' and claim and TRACKS_DEPTH and claim.depth > 0 then
        claim.hops, claim.kind, claim.unwanted = 0, 0, claim.unwanted
      elseif ends ~= 'kept' then
        claim = nil
      end
      if claim then claim.settled, claim.unwanted = 1, claim.unwanted or 0 end
      if record or claim then
        record = record or {priority = lease.priority, stale = 0, attempts = 0, score = 0}
        record.stage, record.claim, record.attempts = 2, claim, 0
        record.score = math.max(record.score - paid, 0)
        write_record(fingerprint, record)
      end
    end
    apply_late_claim(fingerprint)
  end
  at = at + 4
end
for name, n in pairs(counted) do call('HINCRBY', prefix .. 'totals', name, n) end
return finish({lost, links, call('HGETALL', prefix .. 'totals')})
