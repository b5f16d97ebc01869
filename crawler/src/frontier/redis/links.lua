-- Links: new URLs wait, known ones may be promoted or claimed better.
local function priority_of(score)
  local priority
  if SCORES == 'halvings' then
    priority = score > 0 and math.max(-log2(score) * SCORE_STEPS, 0) or 255
  else
    local steps = score <= 100 and score or 100 + 12 * log2(score / 100)
    priority = SCORE_STEPS - math.min(math.floor(steps), SCORE_STEPS)
  end
  return math.min(math.floor(priority), 255)
end

-- Moves a URL that waits to another priority; its entry in the old queue is out of date then.
local function move(record, host, priority, entry, at_front)
  if record.stage == 0 then
    if record.stale == 255 then return end
    record.stale = record.stale + 1
    host.pending = host.pending - 1
  end
  record.priority, record.stage = priority, 0
  queue(host, priority, entry, at_front)
end

-- The best of two claims, if the second is better than the first.
local function improved(claim, link)
  local is_better_kind
  if claim.kind == 2 and link.kind == 0 then is_better_kind = true
  elseif claim.kind == 1 and link.kind == 0 then is_better_kind = claim.settled == 1 or link.depth == 0
  elseif claim.kind == 0 and link.kind == 1 then
    is_better_kind = claim.unwanted == 1 or (TRACKS_DEPTH and claim.depth > 0)
  elseif claim.kind == 0 and link.kind == 0 then is_better_kind = false
  else return nil end
  if is_better_kind then return link.kind, link.depth, link.hops end
  local depth = TRACKS_DEPTH and math.min(claim.depth, link.depth) or claim.depth
  local hops = claim.hops >= 4 and math.min(claim.hops, link.hops) or claim.hops
  if claim.kind == link.kind and (depth ~= claim.depth or hops ~= claim.hops) then return claim.kind, depth, hops end
end

local function improve(record, link, host)
  local claim = record.claim
  if not claim then return end
  local kind, depth, hops = improved(claim, link)
  local is_revival = record.stage == 2
  if not kind or (is_revival and claim.revivals >= 3) then return end
  if record.stage == 1 then
    local late = struct.pack('>BI4BB', kind, depth, hops, link.priority) .. struct.pack('>fH', link.first, #host.name)
    if call('HSET', prefix .. 'late', link.fingerprint, late .. host.name .. link.tail) == 1 then
      figures.late = figures.late + 1
    end
    return
  end
  local priority = record.priority
  if kind ~= 0 then priority = 0
  elseif claim.kind ~= 0 then priority, record.score = link.priority, link.first end
  record.claim = {kind = kind, depth = depth, hops = hops, settled = 0, unwanted = 0,
    revivals = claim.revivals + (is_revival and 1 or 0)}
  if is_revival or priority ~= record.priority then
    move(record, host, priority, entry_of(link.fingerprint, kind, hops, record.attempts, depth, link.tail),
      priority == 0)
  end
end

-- A claim that came while its URL was leased counts now.
apply_late_claim = function(fingerprint)
  if figures.late == 0 then return end
  local late = call('HGET', prefix .. 'late', fingerprint)
  if not late then return end
  call('HDEL', prefix .. 'late', fingerprint)
  figures.late = figures.late - 1
  local record = record_of(fingerprint)
  if not record then return end
  local link = {fingerprint = fingerprint}
  local length, at
  link.kind, link.depth, link.hops, link.priority, link.first, length, at = struct.unpack('>BI4BBfH', late)
  link.tail = string.sub(late, at + length)
  improve(record, link, host_of(string.sub(late, at, at + length - 1)))
  write_record(fingerprint, record)
end

-- Adds a link: its number in decimal, and priority, score if it is new, score to add, host and entry. Gives n for a new
-- URL, k for a known one, f for one about which no link can change anything any more.
local function add(number, bytes, names)
  local link = {}
  local index, _
  link.priority, link.first, link.more, index = struct.unpack('>BffH', bytes)
  link.fingerprint = string.sub(bytes, 12, 19)
  link.kind, link.hops, _, link.depth = struct.unpack('>BBBI4', bytes, 20)
  link.tail = string.sub(bytes, 27)
  local function set_of(n) return prefix .. 's:' .. bucket_of(tonumber(string.sub(n, -9)), figures.sets) end
  if call('SADD', set_of(number), number) == 1 then
    figures.known = figures.known + 1
    if figures.known > figures.sets * 240 then
      local _, split = bucket_of(0, figures.sets)
      figures.sets = figures.sets + 1
      local from, moved = prefix .. 's:' .. split, {}
      for _, member in ipairs(call('SMEMBERS', from)) do
        if set_of(member) ~= from then moved[#moved + 1] = member end
      end
      if #moved > 0 then
        call('SADD', prefix .. 's:' .. (figures.sets - 1), unpack(moved))
        call('SREM', from, unpack(moved))
      end
    end
    queue(host_of(names[index + 1]), link.priority, string.sub(bytes, 12), false)
    local is_weak = link.kind ~= 0 or link.hops >= 4 or (TRACKS_DEPTH and link.depth > 0)
    if SCORES ~= 'none' or is_weak then
      local claim = is_weak and {kind = link.kind, depth = link.depth, hops = link.hops, settled = 0, unwanted = 0,
        revivals = 0} or nil
      write_record(link.fingerprint, {stage = 0, priority = link.priority, stale = 0, attempts = 0,
        score = link.first, claim = claim})
      return 'n'
    end
    return 'N'
  end
  local record = record_of(link.fingerprint)
  if not record then return 'f' end
  local host = host_of(names[index + 1])
  improve(record, link, host)
  if SCORES ~= 'none' and record.stage ~= 2 then
    local priority = link.priority
    if SCORES ~= 'given' then
      record.score = record.score + link.more
      priority = priority_of(record.score)
    end
    if record.stage == 0 and priority < record.priority then
      local claim = record.claim or {kind = 0, hops = link.hops, depth = link.depth}
      move(record, host, priority, entry_of(link.fingerprint, claim.kind, claim.hops, record.attempts, claim.depth,
        link.tail), false)
    end
  end
  write_record(link.fingerprint, record)
  return (record.stage == 2 and not record.claim) and 'f' or 'k'
end

-- Adds the links from an argument on: the number of hosts, their names, then two arguments per link.
local function add_all(at)
  local names, n_hosts, answers = {}, tonumber(ARGV[at]), {}
  for i = 1, n_hosts do names[i] = ARGV[at + i] end
  for i = at + n_hosts + 1, #ARGV, 2 do answers[#answers + 1] = add(ARGV[i], ARGV[i + 1], names) end
  return table.concat(answers)
end
