-- Checks and reserves in one step; one that was made answers as the first time.
-- KEYS: ledger of the trace, spending of the day, open reservations
-- ARGV: day, amount, budget, expires_at, member of the open ones, ms for the ledger, ms for the spending
-- Returns whether it was made, and what is then settled and reserved.
local before = redis.call('HMGET', KEYS[1], 'settled_then', 'reserved_then')
if before[1] then return {1, before[1], before[2]} end

local day, amount, budget = ARGV[1], ARGV[2], ARGV[3]
local settled, reserved = spending(KEYS[2])
local total = add(settled, reserved)
if compare(total, budget) >= 0 or compare(add(total, amount), budget) > 0 then return {0, settled, reserved} end

reserved = add(reserved, amount)
redis.call('HSET', KEYS[2], 'settled', settled, 'reserved', reserved)
redis.call('HSET', KEYS[1], 'day', day, 'amount', amount, 'state', 'open',
  'settled_then', settled, 'reserved_then', reserved)
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[5])
live(KEYS[1], ARGV[6])
live(KEYS[2], ARGV[7])
live(KEYS[3], ARGV[7])
return {1, settled, reserved}
