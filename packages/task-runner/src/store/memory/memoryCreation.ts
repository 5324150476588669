import { isTerminalStatus } from '../../task/taskStatus.js'
import { DEFAULT_KEY_TTL_MS, type CreateResult, type CreateTask } from '../createTask.js'
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
    if (parent === undefined) return { kind: 'refused', parentTaskId }
    const { status: parentStatus } = parent
    const isOver = isTerminalStatus(parentStatus) || parentStatus === 'cancelling'
    if (isOver) return { kind: 'refused', parentTaskId, parentStatus }
    this.tree.addChild(parent, input, at)
    return { kind: 'created', taskId, at, parentType: parent.created.type }
  }
}
