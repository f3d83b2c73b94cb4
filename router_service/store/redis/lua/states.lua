-- Gives the first health states that changed after a version.
-- KEYS: versions, bodies
-- ARGV: that version, how many at most
-- Returns key, version and body of each, by version.
local found = redis.call('ZRANGE', KEYS[1], '(' .. ARGV[1], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
local states = {}
for i = 1, #found, 2 do
  local version = string.format('%.0f', tonumber(found[i + 1]))
  table.insert(states, {found[i], version, redis.call('HGET', KEYS[2], found[i]) or ''})
end
return states
