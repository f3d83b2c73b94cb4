-- Removes the versions of the catalogue that nothing needs.
-- KEYS: bodies, until when each is needed, those that no sweep has seen yet
-- ARGV: now, the version that serves now, when the wait of those two for their traces ends, ms that all live
-- Returns how many were removed.
for _, version in ipairs(redis.call('SMEMBERS', KEYS[3])) do redis.call('ZADD', KEYS[2], 'GT', ARGV[3], version) end
redis.call('DEL', KEYS[3])
if redis.call('ZSCORE', KEYS[2], ARGV[2]) then redis.call('ZADD', KEYS[2], 'GT', ARGV[3], ARGV[2]) end

local removed = 0
for _, version in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', ARGV[1], 'BYSCORE')) do
  if version ~= ARGV[2] then
    removed = removed + redis.call('HDEL', KEYS[1], version)
    redis.call('ZREM', KEYS[2], version)
  end
end
for _, key in ipairs(KEYS) do live(key, ARGV[4]) end
return removed
