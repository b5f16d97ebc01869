-- Ends the request of a lease or a claim: what to do (rest, back or release), fence, key, how long the host rests,
-- and whether it was sent a request. Gives 1, or 0 when the lease has ended.
end_leases()
local what, fence, key = ARGV[FIRST_ARGUMENT], ARGV[FIRST_ARGUMENT + 1], ARGV[FIRST_ARGUMENT + 2]
local time, has_requested = tonumber(ARGV[FIRST_ARGUMENT + 3]), ARGV[FIRST_ARGUMENT + 4] == '1'
local lease = lease_of(fence, key)
if not lease or (what == 'release') ~= (lease.entry == '') then return finish(0) end
local host = host_of(lease.host)
if what == 'rest' then
  if not lease.has_rested then
    call('HSET', prefix .. 'l:' .. fence, 'r', '1')
    rest_host(host, time, has_requested, string.byte(lease.entry, 9) == 0)
  end
  return finish(1)
end
let_go(lease)
if what == 'back' then
  put_back(lease, true, attempts_of(lease))
  apply_late_claim(string.sub(lease.entry, 1, 8))
end
if host.holder == fence then rest_host(host, time, has_requested, false) end
return finish(1)
