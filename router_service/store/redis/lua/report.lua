-- Takes a report in one step: new attempts settle and are kept, known ones change nothing.
-- KEYS: ledger of the trace, its reports, open reservations, spending of the day that the caller supposes
-- ARGV: that day, member of the open ones without day and amount, outcome, head of the report, ms for the ledger,
--   ms for the reports, ms for the spending, then for each attempt its id, cost and body
-- Returns {} and the true day where the supposed one is another: keys must be named before a script runs.
-- Else the ids of the new attempts, and how many were known.
local ledger = redis.call('HMGET', KEYS[1], 'day', 'amount', 'state', 'traceless')
local day, amount, state, traceless = ledger[1], ledger[2], ledger[3], ledger[4]
if day and day ~= ARGV[1] then return {'', day} end

local cost, kept, ids, known, attempts = '0', {'R' .. ARGV[4]}, {}, 0, 0
for i = 8, #ARGV, 3 do
  attempts = attempts + 1
  if redis.call('HSETNX', KEYS[1], 'attempt:' .. ARGV[i], '') == 1 then
    cost = add(cost, ARGV[i + 1])
    table.insert(kept, 'A' .. ARGV[i + 2])
    table.insert(ids, ARGV[i])
  else
    known = known + 1
  end
end
local new = #ids
local told = redis.call('HSETNX', KEYS[1], 'outcome:' .. ARGV[3], '') == 0

-- A day whose spending is no longer known would begin again at what this report costs.
if day and (new > 0 or attempts == 0) and redis.call('EXISTS', KEYS[4]) == 1 then
  local settled, reserved = spending(KEYS[4])
  settled = add(settled, cost)
  if state == 'open' then
    reserved = take(reserved, amount)
    redis.call('ZREM', KEYS[3], day .. ':' .. amount .. ':' .. ARGV[2])
  elseif state == 'expired' then
    settled = take(settled, amount)
  end
  redis.call('HSET', KEYS[4], 'settled', settled, 'reserved', reserved)
  redis.call('HSET', KEYS[1], 'state', 'reported')
  live(KEYS[4], ARGV[7])
end

if (new > 0 or not told) and not traceless then
  for _, part in ipairs(kept) do redis.call('RPUSH', KEYS[2], part) end
  live(KEYS[2], ARGV[6])
end
redis.call('HSET', KEYS[1], 'reported', 1)
live(KEYS[1], ARGV[5])
return {ids, known}
