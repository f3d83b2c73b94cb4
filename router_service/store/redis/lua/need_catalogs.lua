-- Notes until when traces need versions of the catalogue.
-- KEYS: bodies, until when each is needed
-- ARGV: ms that both live, then for each its version and until when
for i = 2, #ARGV, 2 do redis.call('ZADD', KEYS[2], 'GT', ARGV[i + 1], ARGV[i]) end
for _, key in ipairs(KEYS) do live(key, ARGV[1]) end
