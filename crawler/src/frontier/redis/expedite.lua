-- Lets URLs be fetched before all others of their hosts, unless they were fetched before.
end_leases()
local at = FIRST_ARGUMENT
local names, n_hosts = {}, tonumber(ARGV[at])
for i = 1, n_hosts do names[i] = ARGV[at + i] end
for i = at + n_hosts + 1, #ARGV, 2 do
  local bytes = ARGV[i + 1]
  local _, _, _, index = struct.unpack('>BffH', bytes)
  local fingerprint, answer = string.sub(bytes, 12, 19), add(ARGV[i], bytes, names)
  if answer == 'k' or answer == 'f' then
    local host, record = host_of(names[index + 1]), record_of(fingerprint)
    if record and record.stage == 0 then
      local claim = record.claim or {kind = 0, hops = string.byte(bytes, 21), depth = struct.unpack('>I4', bytes, 23)}
      move(record, host, 0, entry_of(fingerprint, claim.kind, claim.hops, record.attempts, claim.depth,
        string.sub(bytes, 27)), true)
      write_record(fingerprint, record)
    elseif not record then
      -- Without a record only the queues tell whether it waits; a host is searched for a few URLs of its own.
      for c = 1, #host.classes do
        local key, from, found = prefix .. 'q:' .. host.name .. ':' .. string.byte(host.classes, c), 0, nil
        repeat
          local entries = call('LRANGE', key, from, from + 499)
          for _, entry in ipairs(entries) do
            if string.sub(entry, 1, 8) == fingerprint then found = entry end
          end
          from = from + 500
        until found or #entries < 500 or from >= 20000
        if found then
          call('LREM', key, 1, found)
          host.pending = host.pending - 1
          if call('EXISTS', key) == 0 then
            host.classes = string.sub(host.classes, 1, c - 1) .. string.sub(host.classes, c + 1)
          end
          queue(host, 0, found, true)
          break
        end
      end
    end
  end
end
return finish('')
