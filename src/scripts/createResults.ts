import type { CreateManyResult, CreateResult, CreateTask, StoredTask, TaskStatus } from '@furystack/task-runner'

import { ScriptReplyError } from '../errors/scriptReplyError.js'
import { decodeRow } from '../rows/rowCodec.js'

/**
 * Reads what createTasks has answered for the tasks of a call.
 *
 * @param script its name, for errors
 * @throws {ScriptReplyError} for anything else
 *
 * @example
 * createResults('createTasks', 1_700_000_000_000, [draft])[0]?.kind // 'created'
 */
export const createResults = (script: string, reply: unknown, page: readonly CreateTask[]): CreateResult[] => {
  if (typeof reply === 'number') return page.map(({ id }) => ({ kind: 'created', taskId: id, at: reply }))
  if (!Array.isArray(reply) || reply.length !== page.length + 1) throw new ScriptReplyError(script, reply)
  const [at, ...wires] = reply as [number, ...WireResult[]]
  return page.map(({ id }, index) => resultOf(wires[index] as WireResult, id, at))
}

const resultOf = (wire: WireResult, id: string, at: number): CreateResult => {
  if (wire === 1) return { kind: 'created', taskId: id, at }
  const taskId = wire[1]
  if (wire[0] === 'created') {
    const parentType = wire[2]
    return parentType === '' ? { kind: 'created', taskId, at } : { kind: 'created', taskId, at, parentType }
  }
  return { kind: 'exists', stored: storedOf(wire) }
}

const storedOf = ([, taskId, row, events, children, blobs]: WireRow): StoredTask =>
  decodeRow(taskId, row, { events, children, blobs })

type WireResult = 1 | [word: 'created', taskId: string, parentType: string, ...none: undefined[]] | WireRow

type WireRow = [word: 'exists', taskId: string, row: string[], events: string[], children: string[], blobs: string[]]

/**
 * The result of every task of a call that was refused; nothing for other replies.
 *
 * @example
 * createRefusal([1_700_000_000_000, ['refused', 'a', 'failed']])?.kind // 'refused'
 */
export const createRefusal = (reply: unknown): CreateResult | undefined => {
  const refused: unknown = Array.isArray(reply) ? reply[1] : undefined
  if (!Array.isArray(refused) || refused[0] !== 'refused') return undefined
  const [, parentTaskId, parentStatus] = refused as [word: string, parent: string, status: TaskStatus | '']
  return { kind: 'refused', parentTaskId, ...(parentStatus && { parentStatus }) }
}

/**
 * By position, the tasks of a call that did nothing because their keys belong to other payloads; nothing for other replies.
 *
 * @example
 * createWithheld([1_700_000_000_000, ['withheld']])?.size // 0
 */
export const createWithheld = (reply: unknown): ReadonlyMap<number, CreateManyResult> | undefined => {
  const withheld: unknown = Array.isArray(reply) ? reply[1] : undefined
  if (!Array.isArray(withheld) || withheld[0] !== 'withheld') return undefined
  const [, ...found] = withheld as [word: string, ...found: Array<number | WireRow>]
  const results = new Map<number, CreateManyResult>()
  for (let at = 0; at < found.length; at += 2) {
    results.set((found[at] as number) - 1, { kind: 'withheld', stored: storedOf(found[at + 1] as WireRow) })
  }
  return results
}
