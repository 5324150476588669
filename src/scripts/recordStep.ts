import type { RecordStep, RecordStepResult } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { clockLua } from './fragments.js'
import { decodeStep } from './readSteps.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Records a step of a task's handler, unless one of its name stands already, if the attempt is still the present one.
 *
 * KEYS: 1 the row, 2 its steps. ARGV: attempt, name of the step, its JSON.
 * Returns: now, word (recorded, exists, lost), the present step if there is one.
 */
const script = defineScript(
  'recordStep',
  clockLua +
    `
local row, steps = KEYS[1], KEYS[2]
local status, run = unpack(redis.call('HMGET', row, 's', 'run'))
if run ~= ARGV[1] or (status ~= 'running' and status ~= 'cancelling') then return { now, 'lost', '' } end
if redis.call('HSETNX', steps, ARGV[2], nowText .. '|' .. ARGV[3]) == 0 then
  return { now, 'exists', redis.call('HGET', steps, ARGV[2]) }
end
redis.call('HSET', row, 'st', '1')
return { now, 'recorded', '' }
`,
)

/**
 * The typed caller of the script above.
 *
 * @example
 * await recordStep(connection, keys('svc/'), { taskId: 'a', attempt: 1, step: { key: 'now:0', json: '{}' } })
 */
export const recordStep = async (
  connection: Connection,
  keys: Keys,
  { taskId, attempt, step }: RecordStep,
): Promise<RecordStepResult> => {
  const reply = await runScript(
    connection,
    script,
    [keys.row(taskId), keys.steps(taskId)],
    [String(attempt), step.key, step.json],
  )
  if (!Array.isArray(reply)) throw new ScriptReplyError(script.name, reply)
  const [at, word, present] = reply as [number, string, string]
  if (word === 'recorded') return { kind: 'recorded', at }
  return word === 'exists' ? { kind: 'exists', step: decodeStep(step.key, present) } : { kind: 'lost' }
}
