import { DueQueue } from '../../collections/dueQueue.js'
import { blobModeOf } from '../../task/blobModeOf.js'
import { retentionTimes } from '../../task/retentionTimes.js'
import type { TaskRetentionPolicy } from '../../task/taskRetentionPolicy.js'
import { isTerminalStatus } from '../../task/taskStatus.js'
import type { DueBlobs, DueBlobsPage, SettleBlobs, TakeDueBlobs } from '../dueBlobs.js'
import type { RecordBlobResult, UsedBlob } from '../recordBlob.js'
import type { MemoryRow } from './memoryRow.js'

/** The record of a task's blobs. It outlives the row while blobs have yet to be deleted. */
export interface MemoryBlobRecord {
  readonly taskId: string
  readonly type: string
  readonly used: Map<string, UsedBlob>
  /** Since the end of the task, until its blobs have been dealt with: how, and in which stores they have yet to be. */
  mode: TaskRetentionPolicy['onSuccess'] | undefined
  readonly pending: Set<string>
  isRowGone: boolean
}

const nameOf = ({ blob: { storeName, key } }: UsedBlob): string => JSON.stringify([storeName, key])
const fieldOf = (used: UsedBlob): string => used.use + nameOf(used)

/** Which task has to do with which blobs, and when they are to be dealt with. Each call is one synchronous step. */
export class MemoryBlobs {
  /** By blob store, then task. */
  readonly #due = new Map<string, DueQueue<string, MemoryBlobRecord>>()
  /** The tasks that a blob was given to, by blob. */
  readonly #users = new Map<string, Set<string>>()
  readonly #producers = new Map<string, string>()
  /** Until when a blob is being deleted. */
  readonly #going = new Map<string, number>()

  record(row: MemoryRow, used: UsedBlob, at: number): RecordBlobResult {
    const goingUntil = this.#going.get(nameOf(used)) ?? 0
    if (goingUntil > at) return { kind: 'busy', retryAfterMs: goingUntil - at }
    this.add(row, used)
    return { kind: 'recorded', at }
  }

  add(row: MemoryRow, used: UsedBlob): void {
    const { id: taskId, type } = row.created
    row.blobs ??= { taskId, type, used: new Map(), mode: undefined, pending: new Set(), isRowGone: false }
    row.blobs.used.set(fieldOf(used), { use: used.use, blob: { ...used.blob } })
    if (used.use === 'consumed') this.#usersOf(used).add(taskId)
    else this.#producers.set(nameOf(used), taskId)
  }

  /** The task has just ended. */
  end({ blobs, status, retentionPolicy }: MemoryRow, at: number): void {
    if (blobs === undefined || !isTerminalStatus(status)) return
    const due = at + retentionTimes(retentionPolicy).blobs
    if (due === Infinity) return
    blobs.mode = blobModeOf(retentionPolicy, status)
    for (const { blob } of blobs.used.values()) {
      blobs.pending.add(blob.storeName)
      this.#dueIn(blob.storeName).set(blobs.taskId, blobs, due)
    }
  }

  /** The task is to run again. */
  resume({ blobs }: MemoryRow): void {
    if (blobs !== undefined) this.#undo(blobs)
  }

  /** The row is removed. What has yet to be deleted stays on the record. */
  rowGone({ blobs }: MemoryRow): void {
    if (blobs === undefined) return
    blobs.isRowGone = true
    if (blobs.mode === undefined || blobs.mode === 'keep') this.#forget(blobs)
  }

  take({ storeName, limit, leaseMs }: TakeDueBlobs, at: number): DueBlobsPage {
    const due = this.#dueIn(storeName)
    const tasks: DueBlobs[] = []
    while (tasks.length < limit) {
      const record = due.takeDue(at)
      if (record === undefined) break
      due.set(record.taskId, record, at + leaseMs)
      const { taskId, type, mode } = record
      const task: DueBlobs = { taskId, type, deletable: [], inUse: [] }
      for (const used of record.used.values()) {
        const isMeant = mode === 'delete-all' || (mode === 'delete-intermediate' && used.use === 'produced')
        if (!isMeant || used.blob.storeName !== storeName) continue
        if (!this.#isUsed(used, taskId)) {
          this.#going.set(nameOf(used), at + leaseMs)
          task.deletable.push({ use: used.use, blob: { ...used.blob } })
        } else if (used.use === 'produced') task.inUse.push({ use: used.use, blob: { ...used.blob } })
        else this.#drop(record, used)
      }
      tasks.push(task)
    }
    return { tasks, hasMore: (due.nextDue ?? Infinity) <= at }
  }

  /** `row` is that of the task, if it is still there. */
  settle({ taskId, storeName, taken, gone, retryAfterMs }: SettleBlobs, row: MemoryRow | undefined, at: number): void {
    const due = this.#dueIn(storeName)
    const record = row?.blobs ?? due.get(taskId)
    for (const used of taken) this.#going.delete(nameOf(used))
    if (record === undefined) return
    for (const used of gone) this.#drop(record, used)
    if (record.mode === undefined) return
    if (retryAfterMs !== undefined) {
      due.set(taskId, record, at + retryAfterMs)
      return
    }
    due.delete(taskId)
    record.pending.delete(storeName)
    if (record.pending.size > 0) return
    record.mode = undefined
    if (row === undefined) this.#forget(record)
    else row.blobsSweptAt = at
  }

  #isUsed(used: UsedBlob, taskId: string): boolean {
    const name = nameOf(used)
    const users = this.#users.get(name)
    if (users !== undefined && (users.size > 1 || !users.has(taskId))) return true
    return used.use === 'consumed' && (this.#producers.get(name) ?? taskId) !== taskId
  }

  #undo(record: MemoryBlobRecord): void {
    record.mode = undefined
    for (const storeName of record.pending) this.#dueIn(storeName).delete(record.taskId)
    record.pending.clear()
  }

  #forget(record: MemoryBlobRecord): void {
    this.#undo(record)
    for (const used of record.used.values()) this.#release(used, record.taskId)
  }

  #drop(record: MemoryBlobRecord, used: UsedBlob): void {
    record.used.delete(fieldOf(used))
    this.#release(used, record.taskId)
  }

  #release(used: UsedBlob, taskId: string): void {
    if (used.use === 'produced') {
      this.#producers.delete(nameOf(used))
      return
    }
    const users = this.#usersOf(used)
    users.delete(taskId)
    if (users.size === 0) this.#users.delete(nameOf(used))
  }

  #usersOf(used: UsedBlob): Set<string> {
    const name = nameOf(used)
    let users = this.#users.get(name)
    if (users === undefined) this.#users.set(name, (users = new Set()))
    return users
  }

  #dueIn(storeName: string): DueQueue<string, MemoryBlobRecord> {
    let due = this.#due.get(storeName)
    if (due === undefined) this.#due.set(storeName, (due = new DueQueue()))
    return due
  }
}
