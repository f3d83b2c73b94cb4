-- Removes bodies kept by version that nothing needs, as many as may be in one step.
-- KEYS: bodies, until when each is needed, those that no sweep has seen yet
-- ARGV: now, the catalogue that serves now, when the wait of those two for their traces ends, ms that all live, how many
--   may go, how many that no sweep has seen may get their time to wait
-- Returns whether there may be more, how many versions were found, and how many bodies went: some have none.
local limit, most, over, removed = tonumber(ARGV[5]), tonumber(ARGV[6]), {}, 0
local fresh = redis.call('SPOP', KEYS[3], most)
for _, version in ipairs(fresh) do redis.call('ZADD', KEYS[2], 'GT', ARGV[3], version) end
if redis.call('ZSCORE', KEYS[2], ARGV[2]) then redis.call('ZADD', KEYS[2], 'GT', ARGV[3], ARGV[2]) end

-- While some may be left that no sweep has seen, nothing goes.
if #fresh < most then
  over = redis.call('ZRANGE', KEYS[2], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, limit)
  for _, version in ipairs(over) do
    removed = removed + redis.call('HDEL', KEYS[1], version)
    redis.call('ZREM', KEYS[2], version)
  end
end
for _, key in ipairs(KEYS) do live(key, ARGV[4]) end
return {(#fresh == most or #over == limit) and 1 or 0, #over, removed}
