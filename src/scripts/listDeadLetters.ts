import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { blobsOfLua } from './blobsLua.js'
import { deadLettersLua } from './deadLettersLua.js'
import { clockLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/** What one call looks at, at most. */
const LOOKED_AT = 1_000

/**
 * Reads a page of dead letters, and forgets those that it meets whose rows or entries are gone.
 *
 * The page goes on behind a member and its score, which may have left the index or be in it with another score by now; a
 * mark that is put into the index for a moment tells the place.
 *
 * KEYS: 1 root, 2 the index. ARGV: 'oldest' or 'newest', limit, member and score to go on behind ('' for the beginning),
 * letters that are wanted, highest score ('' for any).
 * Returns: member and score to go on behind ('' for none), then for each letter: member, score, the row's fields and values
 * or those of the entry, events, children, blobs.
 * Cost: at most 1000 members, and three commands a letter.
 */
const script = defineScript(
  'listDeadLetters',
  clockLua +
    deadLettersLua +
    blobsOfLua +
    `
local root, index = KEYS[1], KEYS[2]
local order, limit, after, afterScore, letters, highest = ARGV[1], tonumber(ARGV[2]), unpack(ARGV, 3, 6)
local isOldest = order == 'oldest'
if highest ~= '' and not isOldest and (after == '' or tonumber(afterScore) > tonumber(highest)) then
  after, afterScore = '\\255', highest
end

local from = 0
if after ~= '' then
  local mark = after .. '\\0'
  redis.call('ZADD', index, afterScore, mark)
  if isOldest then from = redis.call('ZRANK', index, mark) else from = redis.call('ZREVRANK', index, mark) end
  redis.call('ZREM', index, mark)
end

local function read(member)
  local letter, id = string.match(member, '^(%a)|[^|]*|(.*)$')
  if letter == 'u' or letter == 'p' then
    local entry = deadEntry(root, id)
    return entry and { entry, {}, {}, {} }
  end
  local row = root .. 'row:' .. id
  if not isDead(root, member) then return nil end
  local fields = redis.call('HGETALL', row)
  return { fields, redis.call('LRANGE', row .. ':events', 0, -1), redis.call('LRANGE', row .. ':children', 0, -1),
    blobsOf(row, fields) }
end

local replies, gone, last, lastScore, looked = {}, {}, '', '', 0
local function isDone(member, score)
  if isOldest and highest ~= '' and tonumber(score) > tonumber(highest) then
    last, lastScore = '', ''
    return true
  end
  if #replies == limit or looked == ${String(LOOKED_AT)} then return true end
  looked, last, lastScore = looked + 1, member, score
  if member == after and tonumber(score) == tonumber(afterScore) then return false end
  if string.find(letters, string.sub(member, 1, 1), 1, true) then
    local record = read(member)
    if record then
      replies[#replies + 1] = { member, score, unpack(record) }
    else
      gone[#gone + 1] = member
    end
  end
  return false
end

local function walk()
  while true do
    local page
    if isOldest then
      page = redis.call('ZRANGE', index, from, from + 99, 'WITHSCORES')
    else
      page = redis.call('ZREVRANGE', index, from, from + 99, 'WITHSCORES')
    end
    if #page == 0 then
      last, lastScore = '', ''
      return
    end
    for i = 1, #page, 2 do
      if isDone(page[i], page[i + 1]) then return end
    end
    from = from + #page / 2
  end
end

walk()
for _, member in ipairs(gone) do forgetDead(root, member) end
return { last, lastScore, replies }
`,
)

/** What is asked for. */
export interface ListDeadLettersInput {
  readonly type: string | undefined
  readonly order: 'newest' | 'oldest'
  readonly limit: number
  readonly after: { readonly member: string; readonly score: number } | undefined
  readonly letters: string
  readonly until: number | undefined
}

/** One of the index, as it was read: a row or an entry. */
export type DeadRecord = [
  member: string,
  score: string,
  fields: string[],
  events: string[],
  children: string[],
  blobs: string[],
]

/**
 * The typed caller of the script above.
 *
 * @example
 * const page = { type: 'mail', order: 'newest', limit: 20, after: undefined, until: undefined } as const
 * const { records } = await listDeadLetters(connection, keys('svc/'), { ...page, letters: 'fle' })
 */
export const listDeadLetters = async (
  connection: Connection,
  keys: Keys,
  { type, order, limit, after, letters, until }: ListDeadLettersInput,
): Promise<{ records: DeadRecord[]; next?: { member: string; score: number } }> => {
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.deadLetters(type)],
    [order, String(limit), after?.member ?? '', String(after?.score ?? ''), letters, String(until ?? '')],
  )
  if (!Array.isArray(reply) || reply.length !== 3) throw new ScriptReplyError(script.name, reply)
  const [member, score, records] = reply as [string, string, DeadRecord[]]
  return { records, ...(member !== '' && { next: { member, score: Number(score) } }) }
}
