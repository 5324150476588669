import { isTerminalStatus } from '../../task/taskStatus.js'
import { DEFAULT_KEY_TTL_MS, type CreateManyResult, type CreateResult, type CreateTask } from '../createTask.js'
import { MemoryKeys } from './memoryKeys.js'
import type { MemoryRow } from './memoryRow.js'
import type { MemoryRows } from './memoryRows.js'
import type { MemoryTree } from './memoryTree.js'
import { newRow } from './memoryTransitions.js'
import { toStoredTask } from './toStoredTask.js'

/** How rows come into being, other than by their parent's handler. Each call is one synchronous step. */
export class MemoryCreation {
  readonly keys: MemoryKeys

  constructor(
    private readonly rows: MemoryRows,
    private readonly tree: MemoryTree,
  ) {
    this.keys = new MemoryKeys(rows)
  }

  create(input: CreateTask, at: number): CreateResult {
    const { id, type, idempotencyKey, keyTtlMs = DEFAULT_KEY_TTL_MS } = input
    const existing = this.#holderOf(input, at) ?? this.rows.get(id)
    if (existing !== undefined) return { kind: 'exists', stored: toStoredTask(existing) }
    const result = this.#add(input, at)
    if (result.kind === 'created' && idempotencyKey !== undefined) {
      this.keys.take(type, idempotencyKey, { taskId: id, until: at + keyTtlMs }, at)
    }
    return result
  }

  /** All or nothing. */
  createMany(inputs: readonly CreateTask[], at: number): CreateManyResult[] {
    const holders = inputs.map((input) => this.#holderOf(input, at))
    // What this call makes holds the key for those that follow; they have the same payload.
    const made = new Set(inputs.filter((_, index) => holders[index] === undefined).map(keyOf))
    const others = holders.map((holder, index) => {
      const input = inputs[index] as CreateTask
      return holder !== undefined && !made.has(keyOf(input)) && holder.payloadJson !== input.payloadJson
        ? holder
        : undefined
    })
    if (others.some((holder) => holder !== undefined)) {
      return others.map((holder) => ({ kind: 'withheld', ...(holder && { stored: toStoredTask(holder) }) }))
    }
    for (const [index, { id, parentTaskId }] of inputs.entries()) {
      const isThere = holders[index] !== undefined || this.rows.get(id) !== undefined
      const refusal = parentTaskId === undefined || isThere ? undefined : this.#refusalOf(parentTaskId)
      if (refusal) return inputs.map(() => refusal)
    }
    return inputs.map((input) => this.create(input, at))
  }

  #holderOf({ type, idempotencyKey, resubmitAfterFailure = false }: CreateTask, at: number): MemoryRow | undefined {
    if (idempotencyKey === undefined) return undefined
    const row = this.keys.find(type, idempotencyKey, at)
    const mayBeReplaced = resubmitAfterFailure && (row?.status === 'failed' || row?.status === 'cancelled')
    return mayBeReplaced ? undefined : row
  }

  #add(input: CreateTask, at: number): CreateResult & { kind: 'created' | 'refused' } {
    const { id: taskId, parentTaskId } = input
    if (parentTaskId === undefined) {
      this.rows.add(newRow(input, at))
      return { kind: 'created', taskId, at }
    }
    const parent = this.rows.get(parentTaskId)
    const refusal = this.#refusalOf(parentTaskId)
    if (refusal || parent === undefined) return refusal ?? { kind: 'refused', parentTaskId }
    this.tree.addChild(parent, input, at)
    return { kind: 'created', taskId, at, parentType: parent.created.type }
  }

  #refusalOf(parentTaskId: string): (CreateResult & { kind: 'refused' }) | undefined {
    const parentStatus = this.rows.get(parentTaskId)?.status
    if (parentStatus === undefined) return { kind: 'refused', parentTaskId }
    const isOver = isTerminalStatus(parentStatus) || parentStatus === 'cancelling'
    return isOver ? { kind: 'refused', parentTaskId, parentStatus } : undefined
  }
}

const keyOf = ({ type, idempotencyKey = '' }: CreateTask): string => JSON.stringify([type, idempotencyKey])
