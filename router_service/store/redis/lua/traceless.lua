-- Forgets what was reported of a trace that is not kept after its report; the attempts stay known.
-- KEYS: ledger of the trace, its reports
redis.call('DEL', KEYS[2])
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'traceless', 1) end
