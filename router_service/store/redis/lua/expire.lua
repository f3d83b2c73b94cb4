-- Settles reservations of one policy whose time has passed at their amounts.
-- KEYS: open reservations, then for each its ledger and the spending of its day
-- ARGV: ms for the spending, then for each its member of the open ones and its amount
-- Returns how many were open yet.
local settled_now = 0
for i = 2, #ARGV, 2 do
  local member, amount, ledger, spent = ARGV[i], ARGV[i + 1], KEYS[i], KEYS[i + 1]
  if redis.call('ZREM', KEYS[1], member) == 1 then
    settled_now = settled_now + 1
    local settled, reserved = spending(spent)
    redis.call('HSET', spent, 'settled', add(settled, amount), 'reserved', take(reserved, amount))
    live(spent, ARGV[1])
    if redis.call('HGET', ledger, 'state') == 'open' then redis.call('HSET', ledger, 'state', 'expired') end
  end
end
return settled_now
