import type { SpawnChild, SpawnResult } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import { checkRowId, type Keys } from '../keys/keys.js'
import { lane } from '../keys/lane.js'
import { rowFieldsOf } from '../rows/rowCodec.js'
import { addChildLua } from './addChildLua.js'
import { bellLua, clockLua, enqueueLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Brings a child into being: its row and its entry, its place among the parent's children, the event on the parent, and
 * the step that the parent's next run finds it by. Only for the parent's present attempt, unless that has been told to
 * cancel.
 *
 * KEYS: 1 root, 2 the parent's row, 3 the child's row, 4 the parent's steps.
 * ARGV: group ('': mark the child as not yet enqueued), the parent's id, attempt, name of the step, its JSON, the child's
 * id, lane, type, version, when it has to begin (epoch ms, '' for no limit), then its row's fields and values.
 * Returns: now, word (spawned, exists, lost, cancelling), reason of the cancel.
 */
const script = defineScript(
  'spawnChild',
  clockLua +
    bellLua +
    enqueueLua +
    addChildLua +
    `
local root, parent, row, steps = unpack(KEYS)
local group, parentId, attempt, key, step, childId, lane, kind, version, startBefore = unpack(ARGV, 1, 10)
local status, run, reason = unpack(redis.call('HMGET', parent, 's', 'run', 'cr'))
if run ~= attempt or (status ~= 'running' and status ~= 'cancelling') then return { now, 'lost', '' } end
if redis.call('EXISTS', row) == 1 then return { now, 'exists', '' } end
if status == 'cancelling' then return { now, 'cancelling', reason or '' } end

redis.call('HSET', row, 'c', nowText, unpack(ARGV, 11))
if startBefore ~= '' then redis.call('ZADD', root .. 'deadlines', startBefore, childId) end
redis.call('HSET', steps, key, nowText .. '|' .. step)
redis.call('HSET', parent, 'st', '1')
addChild(root, parentId, childId, kind)
if group == '' then
  redis.call('ZADD', root .. 'unqueued', nowText, childId)
else
  enqueue(root, group, lane, childId, kind, version)
end
return { now, 'spawned', '' }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * const child = { ...draft, parentTaskId: 'a' }
 * await spawnChild(connection, keys('svc/'), 'runner', { parentId: 'a', attempt: 1, step: { key: 's:0', json: '"b"' }, child })
 */
export const spawnChild = async (
  connection: Connection,
  keys: Keys,
  group: string,
  { parentId, attempt, step, child }: SpawnChild,
): Promise<SpawnResult> => {
  checkRowId(child.id)
  const to = lane(child.type, child.handlerVersion, child.tags)
  const reply = await runScript(
    connection,
    script,
    [keys.root, keys.row(parentId), keys.row(child.id), keys.steps(parentId)],
    [
      group,
      parentId,
      String(attempt),
      step.key,
      step.json,
      child.id,
      to.name,
      child.type,
      String(child.handlerVersion),
      String(child.startBefore ?? ''),
      ...rowFieldsOf(child),
    ],
  )
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, word, reason] = reply as [number, string, string]
  switch (word) {
    case 'spawned':
      return { kind: 'spawned', at }
    case 'exists':
      return { kind: 'exists' }
    case 'cancelling':
      return { kind: 'refused', reason: 'cancelling', ...(reason && { cancelReason: reason }) }
    default:
      return { kind: 'refused', reason: 'lost' }
  }
}
