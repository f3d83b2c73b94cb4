-- Takes reservations out of one that was made before: the day's total stays, whatever became of that one.
-- KEYS: ledger of the one, spending of the day, open reservations, then the ledger of each that is taken out
-- ARGV: day, id of the one, ms for each ledger, ms for the spending, then for each its id, amount and expires_at
local lease = redis.call('HMGET', KEYS[1], 'amount', 'state')
local held, state = lease[1] or '0', lease[2]
local settled, reserved = spending(KEYS[2])
local sum = '0'
for i = 5, #ARGV, 3 do
  local ledger, amount = KEYS[4 + (i - 5) / 3], ARGV[i + 1]
  if redis.call('HEXISTS', ledger, 'state') == 0 then
    sum = add(sum, amount)
    redis.call('HSET', ledger, 'day', ARGV[1], 'amount', amount, 'state', 'open',
      'settled_then', settled, 'reserved_then', reserved)
    redis.call('ZADD', KEYS[3], ARGV[i + 2], ARGV[1] .. ':' .. amount .. ':' .. ARGV[i])
    live(ledger, ARGV[3])
  end
end
if sum == '0' then return 0 end

local rest = take(held, sum)
local moved = take(held, rest)
if state == 'open' then
  local before, after = ARGV[1] .. ':' .. held .. ':' .. ARGV[2], ARGV[1] .. ':' .. rest .. ':' .. ARGV[2]
  local score = redis.call('ZSCORE', KEYS[3], before)
  if score then
    redis.call('ZREM', KEYS[3], before)
    redis.call('ZADD', KEYS[3], score, after)
  end
  redis.call('HSET', KEYS[1], 'amount', rest)
  reserved = take(reserved, moved)
elseif state == 'expired' then
  redis.call('HSET', KEYS[1], 'amount', rest)
  settled = take(settled, moved)
end
redis.call('HSET', KEYS[2], 'settled', settled, 'reserved', add(reserved, sum))
live(KEYS[2], ARGV[4])
live(KEYS[3], ARGV[4])
return 1
