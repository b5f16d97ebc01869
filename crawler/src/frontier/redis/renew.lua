-- Renews leases of a worker: its name, then fence and key of each. Gives those that have ended.
end_leases()
local worker, lost = ARGV[FIRST_ARGUMENT], {}
for i = FIRST_ARGUMENT + 1, #ARGV, 2 do
  local lease = lease_of(ARGV[i], ARGV[i + 1])
  if lease and lease.worker == worker then
    if LEASE_TIME > 0 then
      call('HSET', prefix .. 'l:' .. lease.fence, 'u', now + LEASE_TIME)
      call('ZADD', prefix .. 'ends', now + LEASE_TIME, lease.fence)
    end
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return finish(lost)
