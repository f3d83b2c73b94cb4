-- Takes traces out of their indices, the reverse of index.lua.
-- KEYS: the index of expiry, then the others
-- ARGV: how many traces, the entry of each, then for each place in another index the number of that key and the entry
-- Returns how many traces were there.
local gone, after = 0, 1 + tonumber(ARGV[1])
for i = 2, after do gone = gone + redis.call('ZREM', KEYS[1], ARGV[i]) end
for i = after + 1, #ARGV, 2 do redis.call('ZREM', KEYS[tonumber(ARGV[i])], ARGV[i + 1]) end
return gone
