import { isTerminalStatus } from '../../task/taskStatus.js'
import { DEFAULT_KEY_TTL_MS, type CreateManyResult, type CreateResult, type CreateTask } from '../createTask.js'
import { MemoryKeys, nameOf } from './memoryKeys.js'
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

  /** All or nothing: everything that could be refused is looked at before anything is written. */
  createMany(inputs: readonly CreateTask[], at: number): CreateManyResult[] {
    /** Keys that this call takes; whoever follows in the list goes by them. */
    const taken = new Set<string>()
    const others = inputs.map((input) => {
      const name = nameOf(input.type, input.idempotencyKey ?? '')
      if (input.idempotencyKey === undefined || taken.has(name)) return undefined
      const holder = this.#holderOf(input, at)
      if (holder === undefined) taken.add(name)
      return holder?.payloadJson === input.payloadJson ? undefined : holder
    })
    if (others.some((holder) => holder !== undefined)) {
      return others.map((holder) => ({ kind: 'withheld', ...(holder && { stored: toStoredTask(holder) }) }))
    }
    for (const input of inputs) {
      const { id, parentTaskId } = input
      if (parentTaskId === undefined || this.#holderOf(input, at) !== undefined || this.rows.get(id)) continue
      const parent = this.rows.get(parentTaskId)
      if (!isOpen(parent)) return inputs.map(() => refusalOf(parentTaskId, parent))
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
    if (!isOpen(parent)) return refusalOf(parentTaskId, parent)
    this.tree.addChild(parent, input, at)
    return { kind: 'created', taskId, at, parentType: parent.created.type }
  }
}

/** Whether a row takes children. */
const isOpen = (parent: MemoryRow | undefined): parent is MemoryRow =>
  parent !== undefined && !isTerminalStatus(parent.status) && parent.status !== 'cancelling'

const refusalOf = (parentTaskId: string, parent: MemoryRow | undefined): CreateResult & { kind: 'refused' } => ({
  kind: 'refused',
  parentTaskId,
  ...(parent && { parentStatus: parent.status }),
})
