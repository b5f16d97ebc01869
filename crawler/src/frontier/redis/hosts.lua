-- Tells some hosts with their figures: where to go on, then eight values of each.
local found = call('SSCAN', prefix .. 'hosts', ARGV[FIRST_ARGUMENT], 'COUNT', 500)
local told = {}
for _, name in ipairs(found[2]) do
  local v = call('HMGET', prefix .. 'h:' .. name, 'n', 'f', 't', 'y', 'z')
  told[#told + 1] = {name, tonumber(v[1]) or 0, tonumber(v[2]) or 0, tonumber(v[3]) or 0, tonumber(v[4]) or 0,
    tonumber(v[5]) or 0}
end
return finish({found[1], told})
