import type { FinishAttempt, FinishResult } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { encodeWorkerId } from '../rows/attemptText.js'
import { endTaskLua } from './endTaskLua.js'
import { finishAttemptLua } from './finishAttemptLua.js'
import { finishResultOf } from './finishResultOf.js'
import { attemptLua, bellLua, clockLua, enqueueLua } from './fragments.js'
import { outcomeFields } from './outcomeFields.js'
import { policyFields } from './policyFields.js'
import { defineScript, runScript } from './runScript.js'
import { treeLua } from './treeLua.js'

/**
 * Ends an attempt whose entry lies in another broker. A task that is over tells its parent.
 *
 * KEYS: 1 root. ARGV: task id, attempt, worker, started, kind, text, error, delay in ms, policy and its times (see
 * policyFields), the fields and values of a result.
 * Returns: now, then as finishResultOf reads it.
 */
const script = defineScript(
  'finishAttempt',
  clockLua +
    bellLua +
    enqueueLua +
    attemptLua +
    treeLua +
    endTaskLua +
    finishAttemptLua +
    `
local root = KEYS[1]
local taskId, run, worker, started, kind, text, err, delayMs = unpack(ARGV, 1, 8)
local policy = ARGV[9] ~= '' and { ARGV[9], ARGV[10] } or nil
if kind == 'succeeded' then text, err = 11, #ARGV end
local status, detail, parent, open, isGone = finishAttempt(root, '', taskId, run, worker, started, kind, text, err, delayMs,
  '', policy)
if not status then return { now, '', detail or '' } end
redis.call('ZREM', root .. 'leases', taskId)
if status == 'pending' then redis.call('ZADD', root .. 'unqueued', nowText, taskId) end
return { now, status, detail, open, parent, isGone and '1' or '' }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await finishAttempt(connection, keys('svc/'), { ...finish, outcome: { kind: 'succeeded', resultJson: '1' } })
 */
export const finishAttempt = async (
  connection: Connection,
  keys: Keys,
  input: FinishAttempt,
): Promise<FinishResult> => {
  const { kind, result, text, error, delayMs } = outcomeFields(input.outcome)
  const fence = [input.taskId, String(input.attempt), encodeWorkerId(input.workerId), String(input.startedAt)]
  const policy = policyFields(input.retentionPolicy)
  const reply = await runScript(
    connection,
    script,
    [keys.root],
    [...fence, kind, text, error, delayMs, ...policy, ...result],
  )
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, ...rest] = reply as [number, ...string[]]
  return finishResultOf(at, rest)
}
