-- Walks one index from newer to older, and gives what is in all the others too.
-- KEYS: the index that is walked, then the others
-- ARGV: from where, to where (as ZRANGE BYLEX takes them), how many are wanted, how many are looked at before the
--   server gets a pause
-- Returns the entries, and where to go on from; that is empty where the walk is at its end.
local from, to, wanted, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local found, looked, step = {}, 0, math.max(wanted, 100)
while looked < most do
  local entries = redis.call('ZRANGE', KEYS[1], from, to, 'BYLEX', 'REV', 'LIMIT', 0, step)
  for _, entry in ipairs(entries) do
    looked, from = looked + 1, '(' .. entry
    local everywhere = true
    for i = 2, #KEYS do everywhere = everywhere and redis.call('ZSCORE', KEYS[i], entry) end
    if everywhere then
      table.insert(found, entry)
      if #found == wanted then return {found, from} end
    end
  end
  if #entries < step then return {found, ''} end
end
return {found, from}
