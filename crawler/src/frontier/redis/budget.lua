-- Changes the largest number of requests to a host; negative for none.
end_leases()
figures.budget = tonumber(ARGV[FIRST_ARGUMENT])
for _, set in ipairs({'exhausted', 'ready'}) do
  for _, name in ipairs(call('ZRANGE', prefix .. set, 0, -1)) do host_of(name) end
end
return finish('')
