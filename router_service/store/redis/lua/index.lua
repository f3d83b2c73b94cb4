-- Lists traces in their indices, all at once or none.
-- KEYS: the index of expiry, then the others
-- ARGV: ms that these live, how many traces, for each its expiry and its entry, then for each place in another index
--   the number of that key and the entry
local after = 2 + 2 * tonumber(ARGV[2])
for i = 3, after, 2 do redis.call('ZADD', KEYS[1], ARGV[i], ARGV[i + 1]) end
for i = after + 1, #ARGV, 2 do redis.call('ZADD', KEYS[tonumber(ARGV[i])], 0, ARGV[i + 1]) end
for _, key in ipairs(KEYS) do live(key, ARGV[1]) end
