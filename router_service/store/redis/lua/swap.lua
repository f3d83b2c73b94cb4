-- Makes changes of health states, each where the kept version is the one that it names.
-- KEYS: versions, bodies
-- ARGV: ms that both live, what the next version is at least, then for each change its key, version and body
-- Returns for each {1, its new version} or {0, the kept version, the kept body}.
--
-- Versions are whole numbers under 2^53, which doubles hold exactly. None is ever removed, so the last is the highest.
local last = redis.call('ZRANGE', KEYS[1], 0, 0, 'REV', 'WITHSCORES')[2]
local version = math.max(tonumber(ARGV[2]) - 1, tonumber(last or 0))
local answers = {}
for i = 3, #ARGV, 3 do
  local key, kept = ARGV[i], tonumber(redis.call('ZSCORE', KEYS[1], ARGV[i]) or 0)
  if kept == tonumber(ARGV[i + 1]) then
    version = version + 1
    local text = string.format('%.0f', version)
    redis.call('ZADD', KEYS[1], text, key)
    redis.call('HSET', KEYS[2], key, ARGV[i + 2])
    table.insert(answers, {1, text})
  else
    table.insert(answers, {0, string.format('%.0f', kept), redis.call('HGET', KEYS[2], key) or ''})
  end
end
for _, key in ipairs(KEYS) do live(key, ARGV[1]) end
return answers
