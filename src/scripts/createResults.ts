import type { CreateResult, CreateTask, TaskStatus } from '@furystack/task-runner'

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
  const [, , row, events, children, blobs] = wire
  return { kind: 'exists', stored: decodeRow(taskId, row, { events, children, blobs }) }
}

type WireResult =
  | 1
  | [word: 'created', taskId: string, parentType: string, ...none: undefined[]]
  | [word: 'exists', taskId: string, row: string[], events: string[], children: string[], blobs: string[]]

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
