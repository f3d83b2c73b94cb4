-- Writes the endpoint's own path and model into an attempt, whatever earlier attempts wrote: the body is the client's
-- each time, but the headers are not. So the first attempt keeps the client's path. PREFIX and KEPT are set before this.
local function string_end(text, at)
  while true do
    local found = string.find(text, '["\\]', at)
    if not found then return nil end
    if string.sub(text, found, found) == '"' then return found end
    at = found + 2
  end
end

local function value_end(text, at)
  local first = string.sub(text, at, at)
  if first == '"' then return string_end(text, at + 1) end
  if first ~= "{" and first ~= "[" then
    local after = string.find(text, "[,}%]%s]", at)
    return after and after - 1
  end
  local depth = 0
  while true do
    local found = string.find(text, '["{}%[%]]', at)
    if not found then return nil end
    local sign = string.sub(text, found, found)
    if sign == '"' then
      found = string_end(text, found + 1)
      if not found then return nil end
    elseif sign == "{" or sign == "[" then
      depth = depth + 1
    else
      depth = depth - 1
      if depth == 0 then return found end
    end
    at = found + 1
  end
end

local function plain(key)
  return (string.gsub(key, "\\u00(%x%x)", function(code) return string.char(tonumber(code, 16)) end))
end

-- The text with every "model" of the outermost object replaced, or one put in; nil where it is no object.
local function with_model(text, value)
  local parts, copied, found = {}, 1, false
  local at = string.find(text, "%S", string.sub(text, 1, 3) == "\239\187\191" and 4 or 1)
  if not at or string.sub(text, at, at) ~= "{" then return nil end
  local open = at
  at = string.find(text, "%S", at + 1)
  while at and string.sub(text, at, at) == '"' do
    local close = string_end(text, at + 1)
    local colon = close and string.find(text, "%S", close + 1)
    local begin = colon and string.sub(text, colon, colon) == ":" and string.find(text, "%S", colon + 1)
    local finish = begin and value_end(text, begin)
    if not finish then return nil end
    if plain(string.sub(text, at + 1, close - 1)) == "model" then
      parts[#parts + 1] = string.sub(text, copied, begin - 1)
      parts[#parts + 1] = value
      copied, found = finish + 1, true
    end
    local comma = string.find(text, "%S", finish + 1)
    at = comma and string.sub(text, comma, comma) == "," and string.find(text, "%S", comma + 1)
  end
  if not found then
    local rest = string.sub(text, open + 1)
    local empty = string.find(rest, "^%s*}")
    return string.sub(text, 1, open) .. '"model":' .. value .. (empty and "" or ",") .. rest
  end
  parts[#parts + 1] = string.sub(text, copied)
  return table.concat(parts)
end

function envoy_on_request(handle)
  local headers = handle:headers()
  local base, model = headers:get("x-router-upstream-path"), headers:get("x-router-upstream-model")
  headers:remove("x-router-upstream-path")
  headers:remove("x-router-upstream-model")
  local kept = handle:streamInfo():dynamicMetadata()
  local path = (kept:get(KEPT) or {}).path
  if not path then
    path = headers:get(":path")
    kept:set(KEPT, "path", path)
  end
  headers:replace(":path", base .. string.sub(path, #PREFIX + 1))
  local body = handle:body() -- nil where there is none, which must stay so: a GET has none
  if not body or body:length() == 0 then return end
  local text = with_model(body:getBytes(0, body:length()), '"' .. string.gsub(model, '[\\"]', "\\%0") .. '"')
  if not text then return end -- no object: what names no model is the provider's to refuse
  body:setBytes(text)
  -- What was taken before the body was waited for is no longer valid.
  handle:headers():replace("content-length", tostring(#text))
end
