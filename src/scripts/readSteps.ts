import type { RecordedStep } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { defineScript, runScript } from './runScript.js'

/** KEYS: 1 the steps. Returns: names and texts in turn, as one flat list whatever the protocol of the connection. */
const script = defineScript('readSteps', `return redis.call('HGETALL', KEYS[1])`)

/** Reads a step from its text, `recorded at|JSON`. */
export const decodeStep = (key: string, text: string): RecordedStep => {
  const end = text.indexOf('|')
  return { key, at: Number(text.slice(0, end)), json: text.slice(end + 1) }
}

/**
 * The typed caller of the script above: all steps that have been recorded of a task.
 *
 * @example
 * const steps = await readSteps(connection, keys('svc/'), 'a')
 */
export const readSteps = async (connection: Connection, keys: Keys, taskId: string): Promise<RecordedStep[]> => {
  const flat = (await runScript(connection, script, [keys.steps(taskId)], [])) as string[]
  const steps: RecordedStep[] = []
  for (let i = 0; i + 1 < flat.length; i += 2) steps.push(decodeStep(flat[i] as string, flat[i + 1] as string))
  return steps
}
