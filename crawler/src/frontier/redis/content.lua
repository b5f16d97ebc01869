-- What is known of a content on the host of a lease: fence, key, digest, and the fingerprint of the URL without its query
-- (empty where it has none). The first URL of a host that asks owns the content.
end_leases()
local lease = lease_of(ARGV[FIRST_ARGUMENT], ARGV[FIRST_ARGUMENT + 1])
if not lease then return finish('lost') end
local key, digest = prefix .. 'k:' .. lease.host, ARGV[FIRST_ARGUMENT + 2]
local first = call('HGET', key, digest)
if not first then
  call('HSET', key, digest, '0' .. lease.key .. ARGV[FIRST_ARGUMENT + 3])
  return finish('new')
end
local owner, without_query = string.sub(first, 2, 9), string.sub(first, 10)
if owner ~= lease.key and without_query ~= lease.key then return finish('duplicate') end
return finish((owner == lease.key and string.sub(first, 1, 1) == '1') and 'unchanged' or 'new')
