-- Reserves a host for a request outside its queue: worker, host, key. Gives the fence, or how long to wait.
end_leases()
local host = host_of(ARGV[FIRST_ARGUMENT + 1])
if host.state == 'w' and host.till <= now then host.state = 'i' end
if host.state == 'b' then return finish({'busy'}) end
if host.state == 'w' then return finish({'wait', host.till - now}) end
return finish({'held', hold(ARGV[FIRST_ARGUMENT], host, ARGV[FIRST_ARGUMENT + 2], 0, '')})
