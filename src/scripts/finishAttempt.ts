import type { FinishAttempt, FinishResult, TaskStatus } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'
import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { encodeWorkerId } from '../rows/attemptText.js'
import { endTaskLua } from './endTaskLua.js'
import { finishAttemptLua } from './finishAttemptLua.js'
import { attemptLua, bellLua, clockLua, enqueueLua, settleLua } from './fragments.js'
import { parentOf } from './parentOf.js'
import { parkedMember } from './parkedMember.js'
import { defineScript, runScript } from './runScript.js'
import { treeLua } from './treeLua.js'

/**
 * Ends an attempt. With a claim, its entry is settled and a retry's entry made in the same step; the row's fence covers
 * both, because whoever takes an entry over begins an attempt of its own. A task that is over tells its parent.
 *
 * KEYS: 1 root, 2 the row, 3 the lane's stream (with a claim).
 * ARGV: task id, attempt, worker, started, kind, text, error, delay in ms; with a claim also: group, lane, entry id,
 * cap type, type, version, member of the schedule.
 * Returns: now, status ('' if lost), due time or reason, open children, what tellParent answered; if lost: now, '', the
 * row's status.
 */
const script = defineScript(
  'finishAttempt',
  clockLua +
    bellLua +
    enqueueLua +
    settleLua +
    attemptLua +
    treeLua +
    endTaskLua +
    finishAttemptLua +
    `
local root, row = KEYS[1], KEYS[2]
local taskId, run, worker, started, kind, text, err, delayMs = unpack(ARGV, 1, 8)
local group, lane, entryId, capType, taskType, version, member = unpack(ARGV, 9, 15)
local status, detail, parent = finishAttempt(root, group or '', taskId, run, worker, started, kind, text, err, delayMs,
  lane or '')
if not status then return { now, '', detail or '' } end
if KEYS[3] then
  if status == 'pending' then
    if detail == '' then
      enqueue(root, group, lane, taskId, taskType, version)
    else
      redis.call('HSET', row, 'm', park(root, member, tonumber(detail)))
    end
  end
  settle(root, group, lane, entryId, capType)
else
  redis.call('ZREM', root .. 'leases', taskId)
  if status == 'pending' then redis.call('ZADD', root .. 'unqueued', int(now), taskId) end
end
return { now, status, detail, redis.call('HGET', row, 'oc') or '0', parent }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await finishAttempt(connection, keys('svc/'), 'runner', { ...fence, outcome: { kind: 'succeeded', resultJson: '1' } })
 */
export const finishAttempt = async (
  connection: Connection,
  keys: Keys,
  group: string,
  input: FinishAttempt,
  claim?: Claim,
): Promise<FinishResult> => {
  const scriptKeys = [keys.root, keys.row(input.taskId)]
  const args = [
    input.taskId,
    String(input.attempt),
    encodeWorkerId(input.workerId),
    String(input.startedAt),
    ...outcomeFields(input.outcome),
  ]
  if (claim) {
    const { lane, entryId, isCapped } = claim
    scriptKeys.push(keys.queue(lane))
    args.push(
      group,
      lane.name,
      entryId,
      isCapped ? lane.type : '',
      lane.type,
      String(lane.handlerVersion),
      parkedMember(input.taskId, lane),
    )
  }
  const reply = await runScript(connection, script, scriptKeys, args)
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, status, detail, open, parent] = reply as [number, TaskStatus | '', string, string, string]
  if (status === '') return { kind: 'lost', ...(detail && { status: detail as TaskStatus }) }
  return {
    kind: 'finished',
    status,
    at,
    ...(status === 'pending' && detail && { notBefore: Number(detail) }),
    ...(status === 'cancelled' && detail && { cancelReason: detail }),
    ...(Number(open) > 0 && { openChildren: Number(open) }),
    ...parentOf(parent),
  }
}

/** Kind, text, error and delay, as the fragment takes them. */
const outcomeFields = (outcome: FinishAttempt['outcome']): [string, string, string, string] => {
  switch (outcome.kind) {
    case 'succeeded':
      return ['succeeded', outcome.resultJson ?? '', '', '0']
    case 'failed': {
      const { error, retryDelayMs } = outcome
      if (retryDelayMs !== undefined) return ['retry', '', JSON.stringify(error), String(Math.ceil(retryDelayMs))]
      return ['failed', JSON.stringify({ name: error.name, message: error.message }), JSON.stringify(error), '0']
    }
    case 'cancelled':
      return ['cancelled', '', outcome.error ? JSON.stringify(outcome.error) : '', '0']
    case 'released':
      return ['released', '', '', String(Math.ceil(outcome.delayMs ?? 0))]
    case 'suspended':
      return ['suspended', JSON.stringify(outcome.awaiting), '', '0']
    case 'parked':
      return ['parked', '', '', String(Math.ceil(outcome.delayMs))]
  }
}
