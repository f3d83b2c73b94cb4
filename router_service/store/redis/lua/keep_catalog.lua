-- Keeps a version of the catalogue.
-- KEYS: bodies, until when each is needed, those that no sweep has seen yet
-- ARGV: version, body, ms that all live
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], 'NX', 0, ARGV[1])
redis.call('SADD', KEYS[3], ARGV[1])
for _, key in ipairs(KEYS) do live(key, ARGV[3]) end
