-- What every script begins with: the time, the figures of the partition, its hosts and the records of its URLs.
-- A script touches the keys of one partition, which share one hash tag. Values that it changes are written by finish().
local prefix, call = KEYS[1], redis.call
local now = tonumber(ARGV[1])
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local HOST_ORDER, HOST_STEPS = ARGV[2], tonumber(ARGV[3])
local SCORES, SCORE_STEPS = ARGV[4], tonumber(ARGV[5])
local TRACKS_DEPTH = ARGV[6] == '1'
local LEASE_TIME, FIRST_REST = tonumber(ARGV[7]), tonumber(ARGV[8])
local FIRST_ARGUMENT = 9

local FIGURES = {'known', 'pending', 'leased', 'hosts', 'fence', 'budget', 'sets', 'records', 'tables', 'late',
  'version'}
local figures, figures_before = {}, {}
do
  local values = call('HMGET', prefix .. 'figures', unpack(FIGURES))
  for i, name in ipairs(FIGURES) do
    figures_before[name] = tonumber(values[i])
    figures[name] = figures_before[name] or 0
  end
  if figures.sets == 0 then figures.sets, figures.tables, figures.budget = 1, 1, -1 end
end

local function log2(number) return math.log(number) / math.log(2) end

-- Linear hashing: of n buckets, the one of a number.
local function bucket_of(number, n)
  local low = 1
  while low * 2 <= n do low = low * 2 end
  local bucket = number % (low * 2)
  if bucket >= n then bucket = number % low end
  return bucket, n - low
end

-- Hosts. States: i idle, r ready, w resting, b busy, x out of budget.
local hosts = {}

local function host_of(name)
  local host = hosts[name]
  if host then return host end
  local v = call('HMGET', prefix .. 'h:' .. name, 's', 'n', 'f', 'p', 'c', 'u', 'b')
  host = {name = name, state = v[1] or 'i', pending = tonumber(v[2]) or 0, fetched = tonumber(v[3]) or 0,
    pages = tonumber(v[4]) or 0, classes = v[5] or '', till = tonumber(v[6]) or 0, holder = v[7] or ''}
  if not v[1] then
    figures.hosts = figures.hosts + 1
    call('SADD', prefix .. 'hosts', name)
  end
  host.was, host.pending_before = host.state, host.pending
  hosts[name] = host
  return host
end

local function host_priority(host)
  local best = string.byte(host.classes, 1) or 255
  local by_pending = 4294967295 - math.min(host.pending, 4294967295)
  if HOST_ORDER == 'largest' then return -host.pending end
  if HOST_ORDER == 'least' then return host.pages end
  if HOST_ORDER == 'damped' then
    best = math.floor((best + 0.5 * HOST_STEPS * log2(1 + host.pages)) * 64)
  end
  return best * 4294967296 + by_pending
end

local SETS = {r = 'ready', w = 'resting', x = 'exhausted'}

-- Finds the state of the hosts that were touched, and writes them.
local function write_hosts()
  for name, host in pairs(hosts) do
    if host.state ~= 'w' and host.state ~= 'b' then
      if host.pending == 0 then host.state = 'i'
      elseif figures.budget >= 0 and host.fetched >= figures.budget then host.state = 'x'
      else host.state = 'r' end
    end
    local before = host.was ~= 'x' and host.pending_before or 0
    local after = host.state ~= 'x' and host.pending or 0
    figures.pending = figures.pending + after - before
    if host.was ~= host.state and SETS[host.was] then call('ZREM', prefix .. SETS[host.was], name) end
    if host.state == 'r' then call('ZADD', prefix .. 'ready', host_priority(host), name)
    elseif host.state == 'w' then call('ZADD', prefix .. 'resting', host.till, name)
    elseif host.state == 'x' then call('ZADD', prefix .. 'exhausted', 0, name) end
    host.was, host.pending_before = host.state, host.pending
    call('HSET', prefix .. 'h:' .. name, 's', host.state, 'n', host.pending, 'f', host.fetched, 'p', host.pages,
      'c', host.classes, 'u', host.till, 'b', host.holder)
  end
end

local function rest_host(host, time, has_requested, is_page)
  if has_requested then
    host.fetched = host.fetched + 1
    if is_page then host.pages = host.pages + 1 end
  end
  host.holder = ''
  if time > 0 then host.state, host.till = 'w', now + time else host.state, host.till = 'i', 0 end
end

-- Queues: a list per host and priority; the priorities in use stand in host.classes, the first one first.
local function queue(host, priority, entry, at_front)
  call(at_front and 'LPUSH' or 'RPUSH', prefix .. 'q:' .. host.name .. ':' .. priority, entry)
  host.pending = host.pending + 1
  local classes, class = host.classes, string.char(priority)
  for i = 1, #classes do
    local byte = string.byte(classes, i)
    if byte == priority then return end
    if byte > priority then
      host.classes = string.sub(classes, 1, i - 1) .. class .. string.sub(classes, i)
      return
    end
  end
  host.classes = classes .. class
end

-- Records of URLs that wait or may be put back: how far it has come (0 waits, 1 leased, 2 done), its priority, how many
-- of its entries in queues are out of date, attempts, score, and what was claimed about it if a better claim may come.
local function table_of(fingerprint)
  return prefix .. 'r:' .. bucket_of(struct.unpack('>I4', fingerprint), figures.tables)
end

local function record_of(fingerprint)
  if figures.records == 0 then return nil end
  local bytes = call('HGET', table_of(fingerprint), fingerprint)
  if not bytes then return nil end
  local record = {}
  record.stage, record.priority, record.stale, record.attempts, record.score = struct.unpack('>BBBBf', bytes)
  if #bytes > 8 then
    local claim = {}
    claim.kind, claim.depth, claim.hops, claim.settled, claim.unwanted, claim.revivals =
      struct.unpack('>BI4BBBB', bytes, 9)
    record.claim = claim
  end
  return record
end

local function write_record(fingerprint, record)
  local key, claim = table_of(fingerprint), record.claim
  if record.stage == 2 and not claim and record.stale == 0 then
    figures.records = figures.records - call('HDEL', key, fingerprint)
    return
  end
  local bytes = struct.pack('>BBBBf', record.stage, record.priority, record.stale, record.attempts, record.score)
  if claim then
    bytes = bytes .. struct.pack('>BI4BBBB', claim.kind, claim.depth, claim.hops, claim.settled, claim.unwanted,
      claim.revivals)
  end
  local is_new = call('HSET', key, fingerprint, bytes)
  figures.records = figures.records + is_new
  if is_new == 1 and figures.records > figures.tables * 60 then
    local _, split = bucket_of(0, figures.tables)
    figures.tables = figures.tables + 1
    local from = prefix .. 'r:' .. split
    local all = call('HGETALL', from)
    for i = 1, #all, 2 do
      local to = table_of(all[i])
      if to ~= from then
        call('HSET', to, all[i], all[i + 1])
        call('HDEL', from, all[i])
      end
    end
  end
end

-- An entry of a queue: fingerprint, kind, hops, attempts, depth, and the rest of the URL.
local function entry_of(fingerprint, kind, hops, attempts, depth, tail)
  return fingerprint .. struct.pack('>BBBI4', kind, hops, attempts, depth) .. tail
end

-- The next entry of a host that is not out of date, with its priority and its record.
local function take(host)
  while #host.classes > 0 do
    local priority = string.byte(host.classes, 1)
    local key = prefix .. 'q:' .. host.name .. ':' .. priority
    local entry = call('LPOP', key)
    if not entry or call('EXISTS', key) == 0 then host.classes = string.sub(host.classes, 2) end
    if entry then
      local fingerprint = string.sub(entry, 1, 8)
      local record = record_of(fingerprint)
      if not record then
        host.pending = host.pending - 1
        return entry, priority, nil
      end
      if record.stage == 0 and record.priority == priority then
        host.pending = host.pending - 1
        local kind, hops, _, depth = struct.unpack('>BBBI4', entry, 9)
        local claim = record.claim
        if claim then kind, hops, depth = claim.kind, claim.hops, claim.depth end
        return entry_of(fingerprint, kind, hops, record.attempts, depth, string.sub(entry, 16)), priority, record
      end
      record.stale = record.stale - 1
      write_record(fingerprint, record)
    end
  end
end

-- Leases and claims, by their fence.
local function lease_of(fence, key)
  local v = call('HMGET', prefix .. 'l:' .. fence, 'k', 'w', 'h', 'u', 'r', 'q', 'e')
  if not v[1] or (key and v[1] ~= key) then return nil end
  return {fence = fence, key = v[1], worker = v[2], host = v[3], till = tonumber(v[4]), has_rested = v[5] == '1',
    priority = tonumber(v[6]), entry = v[7]}
end

local function hold(worker, host, key, priority, entry)
  figures.fence = figures.fence + 1
  local fence = string.format('%d', figures.fence)
  local till = LEASE_TIME > 0 and now + LEASE_TIME or 0
  call('HSET', prefix .. 'l:' .. fence, 'k', key, 'w', worker, 'h', host.name, 'u', till, 'r', '0', 'q', priority,
    'e', entry)
  if till > 0 then call('ZADD', prefix .. 'ends', till, fence) end
  host.state, host.holder = 'b', fence
  return fence
end

local function let_go(lease)
  call('DEL', prefix .. 'l:' .. lease.fence)
  call('ZREM', prefix .. 'ends', lease.fence)
  if lease.entry ~= '' then figures.leased = figures.leased - 1 end
end

-- Lets the URL of a lease that has ended wait again.
local function put_back(lease, at_front, attempts)
  local fingerprint = string.sub(lease.entry, 1, 8)
  local kind, hops, _, depth = struct.unpack('>BBBI4', lease.entry, 9)
  local record, priority = record_of(fingerprint), lease.priority
  if record then
    record.stage, record.attempts, priority = 0, attempts, record.priority
    write_record(fingerprint, record)
  end
  queue(host_of(lease.host), priority, entry_of(fingerprint, kind, hops, attempts, depth, string.sub(lease.entry, 16)),
    at_front)
end

local function attempts_of(lease) return string.byte(lease.entry, 11) end

-- Ends the leases that were not renewed in time: their URLs are next, and their hosts rest once more.
local apply_late_claim
local function end_leases()
  for _, fence in ipairs(call('ZRANGEBYSCORE', prefix .. 'ends', '-inf', now, 'LIMIT', 0, 200)) do
    local lease = lease_of(fence)
    if lease then
      let_go(lease)
      local host = host_of(lease.host)
      if lease.entry ~= '' then
        put_back(lease, true, attempts_of(lease))
        if apply_late_claim then apply_late_claim(string.sub(lease.entry, 1, 8)) end
      end
      if host.holder == fence then rest_host(host, FIRST_REST, false, false) end
    else
      call('ZREM', prefix .. 'ends', fence)
    end
  end
end

local function finish(answer)
  write_hosts()
  local changed = {}
  for _, name in ipairs(FIGURES) do
    if figures[name] ~= figures_before[name] then
      changed[#changed + 1] = name
      changed[#changed + 1] = string.format('%d', figures[name])
    end
  end
  if #changed > 0 then call('HSET', prefix .. 'figures', unpack(changed)) end
  return {figures.known, figures.pending, figures.leased, call('ZCARD', prefix .. 'ready'), figures.hosts, answer}
end
