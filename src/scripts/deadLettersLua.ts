/**
 * Needs the clock. The index of dead letters, all together and by type: sorted sets by the time of the end, member
 * `letter|type|id`, where the letter says why:
 *
 * | letter | what | why |
 * | --- | --- | --- |
 * | `f`, `l`, `e` | a task | failed, lost, expired |
 * | `u`, `p` | an entry, kept in the stream `unreadable` | unreadable, lost |
 *
 * `bury` puts something in and `unbury` takes it out. Rows may expire by themselves, so whatever is put in pays for a look
 * at three others, the two oldest and a random one, so that what is gone never makes up more than a part of the index;
 * removeExpired takes out the rest with `forgetGone`. `buryEntry` keeps an entry as it was, or its beginning if it is too large for that.
 */
export const deadLettersLua = `
local function deadLetterOf(reason)
  return reason == 'lost' and 'l' or reason == 'expired' and 'e' or 'f'
end

local function deadMember(letter, kind, id)
  local encoded = string.gsub(string.gsub(string.gsub(kind, '%%', '%%25'), ':', '%%3A'), '|', '%%7C')
  return letter .. '|' .. encoded .. '|' .. id, encoded
end

local function deadEntry(root, id)
  local entry = redis.pcall('XRANGE', root .. 'unreadable', id, id, 'COUNT', 1)
  return entry and entry[1] and entry[1][2]
end

local function forgetDead(root, member)
  local encoded = string.match(member, '^%a|([^|]*)|')
  redis.call('ZREM', root .. 'deadletters', member)
  redis.call('ZREM', root .. 'deadletters:' .. encoded, member)
end

local function isDead(root, member)
  local letter, id = string.match(member, '^(%a)|[^|]*|(.*)$')
  if letter == 'u' or letter == 'p' then return deadEntry(root, id) ~= nil end
  -- Something else may have come to lie there.
  return redis.pcall('HGET', root .. 'row:' .. id, 's') == 'failed'
end

local function forgetGone(root, members)
  for _, member in ipairs(members) do
    if not isDead(root, member) then forgetDead(root, member) end
  end
end

local function bury(root, letter, kind, id)
  local member, encoded = deadMember(letter, kind, id)
  local index = root .. 'deadletters'
  redis.call('ZADD', index, nowText, member)
  if kind ~= '' then redis.call('ZADD', index .. ':' .. encoded, nowText, member) end
  local looked = redis.call('ZRANGE', index, 0, 1)
  looked[#looked + 1] = redis.call('ZRANDMEMBER', index)
  forgetGone(root, looked)
end

local function unbury(root, letter, kind, id)
  forgetDead(root, (deadMember(letter, kind, id)))
end

local function laneType(lane)
  return string.match(lane, '^(.+):v%d+$') or string.match(lane, '^(.+):v%d+:tags=[^:]*$') or ''
end

local function buryEntry(root, letter, lane, entryId, fields)
  local text, isCut = cjson.encode(fields), '0'
  if #text > 65536 or #fields > 4000 then
    isCut = '1'
    local some = {}
    for i = 1, math.min(#fields, 64) do some[i] = string.sub(fields[i], 1, 512) end
    text = cjson.encode(some)
  end
  local id = redis.call('XADD', root .. 'unreadable', 'MAXLEN', '~', 10000, '*', 'letter', letter, 'lane', lane,
    'entry', entryId, 'fields', text, 'cut', isCut)
  bury(root, letter, laneType(lane), id)
  return id
end
`
