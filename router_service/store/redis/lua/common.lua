-- Begins every script: exact sums of amounts, and keys that live no longer than they must.
--
-- Amounts are texts of digits without leading zeros. A number of Lua is a double, exact to 15 digits only, so sums go
-- by groups of 14 digits.
local GROUP, LIMIT = 14, 1e14

local function compare(a, b)
  if #a ~= #b then return #a < #b and -1 or 1 end
  if a == b then return 0 end
  return a < b and -1 or 1
end

local function group(text, last)
  if last < 1 then return 0 end
  return tonumber(string.sub(text, math.max(1, last - GROUP + 1), last))
end

local function joined(groups)
  local digits = string.gsub(table.concat(groups), '^0+', '')
  return digits == '' and '0' or digits
end

local function add(a, b)
  if #a <= GROUP and #b <= GROUP then return string.format('%.0f', a + b) end
  local groups, carry, i, j = {}, 0, #a, #b
  while i > 0 or j > 0 or carry > 0 do
    local sum = group(a, i) + group(b, j) + carry
    carry = 0
    if sum >= LIMIT then sum, carry = sum - LIMIT, 1 end
    table.insert(groups, 1, string.format('%014.0f', sum))
    i, j = i - GROUP, j - GROUP
  end
  return joined(groups)
end

-- a less b, and nothing where b is more: a day whose spending was lost never falls under nothing.
local function take(a, b)
  if compare(a, b) <= 0 then return '0' end
  if #a <= GROUP then return string.format('%.0f', a - b) end
  local groups, borrow, i, j = {}, 0, #a, #b
  while i > 0 do
    local rest = group(a, i) - group(b, j) - borrow
    borrow = 0
    if rest < 0 then rest, borrow = rest + LIMIT, 1 end
    table.insert(groups, 1, string.format('%014.0f', rest))
    i, j = i - GROUP, j - GROUP
  end
  return joined(groups)
end

local function spending(key)
  local found = redis.call('HMGET', key, 'settled', 'reserved')
  return found[1] or '0', found[2] or '0'
end

-- Lets a key live for so many milliseconds at least; a little longer, so that not every touch must write it.
local function live(key, ms)
  ms = tonumber(ms)
  local left = redis.call('PTTL', key)
  if left ~= -2 and left < ms then redis.call('PEXPIRE', key, string.format('%.0f', ms + ms / 64)) end
end
