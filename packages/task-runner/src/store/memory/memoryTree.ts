import { isTerminalStatus } from '../../task/taskStatus.js'
import type { CreateTask } from '../createTask.js'
import type { ParentUpdate } from '../parentUpdate.js'
import type { RecordBlob, RecordBlobResult } from '../recordBlob.js'
import type { RecordedStep, RecordStep, RecordStepResult } from '../recordStep.js'
import type { SpawnChild, SpawnResult } from '../spawnChild.js'
import type { MemoryOrphans } from './memoryOrphans.js'
import type { MemoryRetention } from './memoryRetention.js'
import type { MemoryRow } from './memoryRow.js'
import type { MemoryRows } from './memoryRows.js'
import { logEvent, moveTo, newRow, openAttempt } from './memoryTransitions.js'

/** What rows have to do with each other, and the steps of their handlers. Each call is one synchronous step. */
export class MemoryTree {
  constructor(
    private readonly rows: MemoryRows,
    private readonly retention: MemoryRetention,
    private readonly orphans: MemoryOrphans,
  ) {}

  /** Whether a task is there and has yet to end. */
  isOpen(taskId: string): boolean {
    const row = this.rows.get(taskId)
    return row !== undefined && !isTerminalStatus(row.status)
  }

  /** Cancels a row whose parent is over; tells whether it was. */
  cancelOrphan(row: MemoryRow, at: number): boolean {
    const { parentTaskId } = row.created
    const parent = parentTaskId === undefined ? undefined : this.rows.get(parentTaskId)
    if (parent === undefined || !isTerminalStatus(parent.status)) return false
    row.cancelReason = 'parent-ended'
    this.rows.settle(row, at, () => moveTo(row, 'cancelled', at))
    this.end(row, at)
    return true
  }

  /** Makes a row, and its place among its parent's children. */
  addChild(parent: MemoryRow, child: CreateTask, at: number): void {
    this.rows.add(newRow(child, at))
    parent.childTaskIds.push(child.id)
    parent.openChildren++
    const event = { at: new Date(at).toISOString(), kind: 'spawned-child' } as const
    logEvent(parent, { ...event, childTaskId: child.id, childType: child.type })
  }

  spawn({ parentId, attempt, step, child }: SpawnChild, at: number): SpawnResult {
    const parent = this.#fenced(parentId, attempt)
    if (parent === undefined) return { kind: 'refused', reason: 'lost' }
    if (this.rows.get(child.id) !== undefined) return { kind: 'exists' }
    if (parent.status === 'cancelling') {
      const { cancelReason } = parent
      return { kind: 'refused', reason: 'cancelling', ...(cancelReason !== undefined && { cancelReason }) }
    }
    this.addChild(parent, child, at)
    parent.steps.set(step.key, { ...step, at })
    return { kind: 'spawned', at }
  }

  record({ taskId, attempt, step }: RecordStep, at: number): RecordStepResult {
    const row = this.#fenced(taskId, attempt)
    if (row === undefined) return { kind: 'lost' }
    const present = row.steps.get(step.key)
    if (present !== undefined) return { kind: 'exists', step: { ...present } }
    row.steps.set(step.key, { ...step, at })
    return { kind: 'recorded', at }
  }

  recordBlob({ taskId, attempt, ...used }: RecordBlob, at: number): RecordBlobResult {
    const row = this.#fenced(taskId, attempt)
    return row === undefined ? { kind: 'lost' } : this.rows.blobs.record(row, used, at)
  }

  steps(taskId: string): RecordedStep[] {
    return [...(this.rows.get(taskId)?.steps.values() ?? [])].map((step) => ({ ...step }))
  }

  /** If a row has just ended: tells its parent, and sees to how long it is kept. `mayRemove`: nobody reads it after this. */
  end(row: MemoryRow, at: number, mayRemove = false): { parent?: ParentUpdate; removed?: true } {
    if (!isTerminalStatus(row.status)) return {}
    const told = this.#tellParent(row, at)
    this.retention.keepFamily(row)
    this.orphans.mark(row, at)
    this.rows.blobs.end(row, at)
    return this.retention.keep(row, at, mayRemove) ? { ...told, removed: true } : told
  }

  #tellParent(row: MemoryRow, at: number): { parent?: ParentUpdate } {
    const { id, parentTaskId } = row.created
    const parent = parentTaskId === undefined ? undefined : this.rows.get(parentTaskId)
    const { status } = row
    if (parent === undefined || !isTerminalStatus(status)) return {}
    parent.openChildren--
    if (isTerminalStatus(parent.status)) return {}
    logEvent(parent, { at: new Date(at).toISOString(), kind: 'child-completed', childTaskId: id, status })
    const woken = parent.open.delete(id) && parent.open.size === 0 && parent.status === 'waiting'
    if (woken) {
      parent.notBefore = at
      this.rows.settle(parent, at, () => moveTo(parent, 'pending', at))
    }
    return { parent: { taskId: parent.created.id, type: parent.created.type, woken } }
  }

  /** The row, if this is its running attempt. */
  #fenced(taskId: string, attempt: number): MemoryRow | undefined {
    const row = this.rows.get(taskId)
    return row !== undefined && openAttempt(row)?.attempt === attempt ? row : undefined
  }
}
