import type { CreateManyResult, CreateResult, CreateTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { checkRowId, isRowId, type Keys } from '../keys/keys.js'
import { createArguments } from './createArguments.js'
import { createRefusal, createResults, createWithheld } from './createResults.js'
import { createTasksLua } from './createTasksLua.js'
import { pagesOf } from './pagesOf.js'
import { payloadBytesOf } from './payloadBytesOf.js'
import { defineScript, runScript } from './runScript.js'

/**
 * The largest list that is created all or nothing, by tasks and by bytes of their payloads: what one call of the script may
 * keep the server busy with.
 */
const PAGE = { items: 500, bytes: 16 * 1_048_576, bytesOf: payloadBytesOf }

const script = defineScript('createTasks', createTasksLua)

/**
 * The typed caller of `createTasksLua`; answers in the order of the tasks. At most 500 tasks and 16 MiB of payloads a call of
 * the script (or a single task), and each call all or nothing. After a refusal nothing more is tried, and all that is left
 * is answered with it.
 *
 * @param entries whether the tasks are to be queued; without, they are marked as not yet enqueued. `together`: they are queued,
 * and a call in which a key belongs to another payload does nothing; what follows it is withheld, too. What could refuse a list
 * that takes several calls is looked at before the first of them
 * @param onResults is given the results of each call while Redis works on the next
 *
 * @example
 * const [result] = await createTasks(connection, keys('svc/'), 'runner', [draft], true)
 */
export function createTasks(
  connection: Connection,
  keys: Keys,
  group: string,
  inputs: readonly CreateTask[],
  entries: boolean,
): Promise<CreateResult[]>
export function createTasks(
  connection: Connection,
  keys: Keys,
  group: string,
  inputs: readonly CreateTask[],
  entries: 'together',
  onResults?: (results: readonly CreateManyResult[]) => void,
): Promise<CreateManyResult[]>
export async function createTasks(
  connection: Connection,
  keys: Keys,
  group: string,
  inputs: readonly CreateTask[],
  entries: boolean | 'together',
  onResults?: (results: readonly CreateManyResult[]) => void,
): Promise<CreateManyResult[]> {
  for (const { id } of inputs) checkRowId(id)
  // No row can be there, but something else could.
  const orphan = inputs.find(({ parentTaskId }) => parentTaskId !== undefined && !isRowId(parentTaskId))
  if (orphan !== undefined) {
    return inputs.map(() => ({ kind: 'refused', parentTaskId: orphan.parentTaskId as string }))
  }
  const [first, ...rest] = pagesOf(inputs, PAGE)
  if (entries === 'together' && rest.length > 0) {
    const refused = await lookAhead(connection, keys, group, inputs)
    if (refused) return refused
  }
  const results: CreateManyResult[] = []
  let latest: readonly CreateManyResult[] = []
  let next = first && { page: first, wire: createArguments(keys, group, first, entries) }
  // One call after the other: tasks are queued in their order, and what comes after a fault is left undone.
  while (next) {
    const { page, wire } = next
    const replying = runScript(connection, script, ...wire)
    const following = rest.shift()
    if (following || latest.length > 0) {
      replying.catch(() => undefined) // told below
      // Redis works on the page from the moment it is written, which is at the end of this turn.
      await nextTurn()
    }
    if (latest.length > 0) onResults?.(latest)
    next = following && { page: following, wire: createArguments(keys, group, following, entries) }
    const reply = await replying
    const refusal = createRefusal(reply)
    if (refusal) return [...results, ...inputs.slice(results.length).map(() => refusal)]
    const withheld = createWithheld(reply)
    if (withheld) {
      return [
        ...results,
        ...inputs.slice(results.length).map((_, at) => withheld.get(at) ?? { kind: 'withheld' as const }),
      ]
    }
    latest = createResults(script.name, reply, page)
    results.push(...latest)
  }
  if (latest.length > 0) onResults?.(latest)
  return results
}

/** What would refuse the list as it is now, if something would: most that does is there before, and then nothing is written. */
const lookAhead = async (
  connection: Connection,
  keys: Keys,
  group: string,
  inputs: readonly CreateTask[],
): Promise<CreateManyResult[] | undefined> => {
  const known = new Set<string>()
  const positions = [...inputs.keys()].filter((at) => {
    const { type, idempotencyKey, parentTaskId } = inputs[at] as CreateTask
    if (idempotencyKey === undefined) return parentTaskId !== undefined
    // A key that comes again is what its first task makes of it, which may be to take it from one that has failed.
    const key = keys.idempotency(type, idempotencyKey)
    return !known.has(key) && known.add(key)
  })
  const found = new Map<number, CreateManyResult>()
  let looked = 0
  for (const page of pagesOf(
    positions.map((at) => inputs[at] as CreateTask),
    PAGE,
  )) {
    const reply = await runScript(connection, script, ...createArguments(keys, group, page, 'look'))
    const refusal = createRefusal(reply)
    if (refusal) return inputs.map(() => refusal)
    for (const [at, result] of createWithheld(reply) ?? []) found.set(positions[looked + at] as number, result)
    looked += page.length
  }
  return found.size > 0 ? inputs.map((_, at) => found.get(at) ?? { kind: 'withheld' }) : undefined
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
