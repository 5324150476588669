import type { DeadLetterBox } from '../../deadLetters/deadLetterBox.js'
import { MaxDeliveriesExceededError } from '../../errors/maxDeliveriesExceededError.js'
import { TaskExpiredError } from '../../errors/taskExpiredError.js'
import { isDefaultPolicy } from '../../task/isDefaultPolicy.js'
import { isTerminalStatus } from '../../task/taskStatus.js'
import type { BeginAttempt, BeginResult } from '../beginAttempt.js'
import type { CancelResult, CancelTask } from '../cancelTask.js'
import type { CreateManyResult, CreateResult, CreateTask } from '../createTask.js'
import type { DueBlobsPage, SettleBlobs, TakeDueBlobs } from '../dueBlobs.js'
import type { ExtendAttempt, ExtendResult } from '../extendAttempt.js'
import type { FinishAttempt, FinishResult } from '../finishAttempt.js'
import type { RecordBlob, RecordBlobResult } from '../recordBlob.js'
import type { RecordedStep, RecordStep, RecordStepResult } from '../recordStep.js'
import type { OrphanedFamily } from '../orphanedFamily.js'
import type { RemovedRows } from '../removedRows.js'
import type { LeadRole, Role } from '../role.js'
import type { SpawnChild, SpawnResult } from '../spawnChild.js'
import type { StartResult, StartTask } from '../startTask.js'
import type { ExpiredTask, FailedTask, StoredTask } from '../storedTask.js'
import type { TaskStore } from '../taskStore.js'
import { MemoryOrphans } from './memoryOrphans.js'
import { MemoryRetention } from './memoryRetention.js'
import { MemoryRoles } from './memoryRoles.js'
import { systemClock } from '../../time/systemClock.js'
import { MemoryCreation } from './memoryCreation.js'
import { MemoryResend } from './memoryResend.js'
import type { MemoryRow } from './memoryRow.js'
import { MemoryRows } from './memoryRows.js'
import { MemoryTree } from './memoryTree.js'
import {
  applyOutcome,
  deadlineOf,
  expireLease,
  failUnrun,
  logEvent,
  loseAttempt,
  moveTo,
  openAttempt,
} from './memoryTransitions.js'
import { toStoredTask } from './toStoredTask.js'

/** More than one step brings, so that what is over does not gather. */
const TIDIED_PER_STEP = 4

/**
 * How a `MemoryTaskStore` differs from the default.
 *
 * @example
 * const options: MemoryTaskStoreOptions = { now: () => Date.parse('2030-01-01') }
 */
export interface MemoryTaskStoreOptions {
  /** The clock, in epoch milliseconds. @default the system's */
  now?: () => number
}

/**
 * Task rows in the memory of this process, for applications of one process and for tests. Payloads and results are kept
 * as JSON text, so that what comes out is what any other store would give.
 *
 * @example
 * injector.bind(TaskStore, () => new MemoryTaskStore())
 */
export class MemoryTaskStore implements TaskStore {
  public readonly shared = false
  readonly #now: () => number
  readonly #rows = new MemoryRows()
  readonly #orphans = new MemoryOrphans(this.#rows)
  readonly #retention = new MemoryRetention(this.#rows)
  readonly #tree = new MemoryTree(this.#rows, this.#retention, this.#orphans)
  readonly #creation = new MemoryCreation(this.#rows, this.#tree)
  readonly #resend = new MemoryResend(this.#rows, this.#creation.keys, this.#retention)
  readonly #roles = new MemoryRoles()

  public readonly deadLetters: DeadLetterBox = {
    list: (query) => this.#step(() => this.#rows.deadLetters.list(query, this.#now())),
    get: (id) => this.#step(() => this.#rows.deadLetters.get(id, this.#now())),
    count: ({ type }) => this.#step(() => this.#rows.deadLetters.count(type)),
    resend: (input) => this.#step(() => this.#resend.resend(input, this.#now())),
    discard: (id) => this.#step(() => this.#discard(id)),
  }

  constructor({ now = () => systemClock.now() }: MemoryTaskStoreOptions = {}) {
    this.#now = now
  }

  /** When the next lease ends, or the time of a task to begin, in epoch milliseconds: whatever sweeps look for. */
  get nextDue(): number | undefined {
    return this.#rows.nextDue
  }

  public create(input: CreateTask): Promise<CreateResult> {
    return this.#step(() => this.#creation.create(input, this.#now()))
  }

  public createMany(inputs: readonly CreateTask[]): Promise<CreateManyResult[]> {
    return this.#step(() => this.#creation.createMany(inputs, this.#now()))
  }

  public get(taskId: string): Promise<StoredTask | undefined> {
    return this.#step(() => this.#read(taskId))
  }

  public getMany(taskIds: readonly string[]): Promise<Array<StoredTask | undefined>> {
    return this.#step(() => taskIds.map((taskId) => this.#read(taskId)))
  }

  public start({ taskId, payload }: StartTask): Promise<StartResult> {
    return this.#step(() => {
      const row = this.#rows.get(taskId)
      if (row === undefined) return { kind: 'refused' }
      if (row.status !== 'draft') return { kind: 'refused', stored: toStoredTask(row) }
      const at = this.#now()
      if (payload !== undefined) row.payloadJson = payload.json
      row.notBefore = Math.max(row.notBefore ?? at, at)
      this.#rows.settle(row, at, () => moveTo(row, 'pending', at))
      return { kind: 'started', stored: toStoredTask(row), at }
    })
  }

  public beginAttempt(input: BeginAttempt): Promise<BeginResult> {
    return this.#step(() => this.#begin(input))
  }

  public finishAttempt({ taskId, attempt, workerId, outcome, retentionPolicy }: FinishAttempt): Promise<FinishResult> {
    return this.#step(() => {
      const row = this.#rows.get(taskId)
      const open = row && openAttempt(row)
      if (row === undefined) return { kind: 'lost' }
      if (open?.attempt !== attempt || open.workerId !== workerId) return { kind: 'lost', status: row.status }
      const at = this.#now()
      this.#rows.settle(row, at, () => applyOutcome(row, outcome, at, (childId) => this.#tree.isOpen(childId)))
      if (retentionPolicy !== undefined && isTerminalStatus(row.status) && !hasOwnPolicy(row)) {
        row.retentionPolicy = { ...retentionPolicy }
      }
      return {
        kind: 'finished',
        status: row.status,
        at,
        ...(row.status === 'pending' && row.notBefore !== undefined && { notBefore: row.notBefore }),
        ...(row.status === 'cancelled' && row.cancelReason !== undefined && { cancelReason: row.cancelReason }),
        ...(row.openChildren > 0 && { openChildren: row.openChildren }),
        ...this.#tree.end(row, at, true),
      }
    })
  }

  public extendAttempt({ taskId, attempt, visibilityTimeoutMs, progress }: ExtendAttempt): Promise<ExtendResult> {
    return this.#step(() => {
      const row = this.#rows.get(taskId)
      if (row === undefined || openAttempt(row)?.attempt !== attempt) return { kind: 'lost' }
      const at = this.#now()
      this.#rows.lease(row, at + visibilityTimeoutMs)
      if (progress !== undefined) row.progress = { percent: progress.percent, metaJson: progress.metaJson, at }
      return {
        kind: 'extended',
        at,
        cancelling: row.status === 'cancelling',
        ...(row.cancelReason !== undefined && { cancelReason: row.cancelReason }),
      }
    })
  }

  public cancel({ taskId, reason }: CancelTask): Promise<CancelResult> {
    return this.#step(() => {
      const row = this.#rows.get(taskId)
      if (row === undefined) return { kind: 'unknown' }
      if (isTerminalStatus(row.status) || row.status === 'cancelling') {
        return { kind: 'unchanged', stored: toStoredTask(row) }
      }
      const at = this.#now()
      row.cancelReason = reason
      const event = { at: new Date(at).toISOString(), kind: 'cancellation-requested' } as const
      logEvent(row, reason === undefined ? event : { ...event, reason })
      if (row.status === 'running' && (row.leaseUntil ?? 0) > at) {
        row.status = 'cancelling'
        return { kind: 'cancelling', stored: toStoredTask(row), at }
      }
      this.#rows.settle(row, at, () => {
        loseAttempt(row, at)
        moveTo(row, 'cancelled', at)
      })
      return { kind: 'cancelled', stored: toStoredTask(row), at, ...this.#tree.end(row, at) }
    })
  }

  public spawnChild(input: SpawnChild): Promise<SpawnResult> {
    return this.#step(() => this.#tree.spawn(input, this.#now()))
  }

  public recordStep(input: RecordStep): Promise<RecordStepResult> {
    return this.#step(() => this.#tree.record(input, this.#now()))
  }

  public readSteps(taskId: string): Promise<RecordedStep[]> {
    return this.#step(() => this.#tree.steps(taskId))
  }

  public recordBlob(input: RecordBlob): Promise<RecordBlobResult> {
    return this.#step(() => this.#tree.recordBlob(input, this.#now()))
  }

  public takeDueBlobs(query: TakeDueBlobs): Promise<DueBlobsPage> {
    return this.#step(() => this.#rows.blobs.take(query, this.#now()))
  }

  public settleBlobs(input: SettleBlobs): Promise<void> {
    return this.#step(() => this.#rows.blobs.settle(input, this.#rows.get(input.taskId), this.#now()))
  }

  public markEnqueued(taskId: string, attempts: number): Promise<void> {
    return this.#step(() => {
      if (this.#rows.get(taskId)?.attempts.length === attempts) this.#rows.unmark(taskId)
    })
  }

  public findUnqueued({ olderThanMs, limit }: { olderThanMs: number; limit: number }): Promise<StoredTask[]> {
    return this.#step(() => this.#rows.marked(this.#now() - olderThanMs, limit).map(toStoredTask))
  }

  public expireAttempts({ limit }: { limit: number }): Promise<ExpiredTask[]> {
    return this.#step(() => {
      const now = this.#now()
      const expired: ExpiredTask[] = []
      while (expired.length < limit) {
        const row = this.#rows.takeExpired(now)
        if (row === undefined) break
        this.#rows.settle(row, now, () => expireLease(row, now))
        expired.push({ ...toStoredTask(row), ...this.#tree.end(row, now) })
      }
      return expired
    })
  }

  public expireTasks({ limit }: { limit: number }): Promise<FailedTask[]> {
    return this.#step(() => {
      const now = this.#now()
      const failed: FailedTask[] = []
      while (failed.length < limit) {
        const row = this.#rows.takeOverdue(now)
        if (row === undefined) break
        failed.push(this.#failUnrun(row, new TaskExpiredError(row.created.id), now))
      }
      return failed
    })
  }

  public findOrphaned({ olderThanMs, limit }: { olderThanMs: number; limit: number }): Promise<OrphanedFamily[]> {
    return this.#step(() => this.#orphans.marked(this.#now() - olderThanMs, limit))
  }

  public markReaped(parentIds: readonly string[]): Promise<void> {
    return this.#step(() => this.#orphans.unmark(parentIds))
  }

  public removeExpired({ limit }: { limit: number }): Promise<RemovedRows> {
    return this.#step(() => this.#retention.remove(limit, this.#now()))
  }

  public lead(input: LeadRole): Promise<boolean> {
    return this.#step(() => this.#roles.lead(input, this.#now()))
  }

  public resign(input: Role): Promise<void> {
    return this.#step(() => this.#roles.resign(input))
  }

  #begin(input: BeginAttempt): BeginResult {
    const { taskId, workerId, visibilityTimeoutMs, redelivered, maxDeliveries = Infinity, onlyIfDue = false } = input
    const row = this.#rows.get(taskId)
    if (row === undefined) return { kind: 'refused', reason: 'missing' }
    const { status, leaseUntil = 0 } = row
    const at = this.#now()
    const isOpen = status === 'running' || status === 'cancelling'
    if (!isOpen && status !== 'pending') return { kind: 'refused', reason: 'stale', status }
    if (isOpen) {
      if (!redelivered && leaseUntil > at) return { kind: 'refused', reason: 'owned', status, leaseUntil }
      this.#rows.settle(row, at, () => expireLease(row, at))
      if (status === 'cancelling') {
        return { kind: 'cancelled', stored: toStoredTask(row), at, ...this.#tree.end(row, at) }
      }
    }
    if (this.#tree.cancelOrphan(row, at)) return { kind: 'cancelled', stored: toStoredTask(row), at }
    const dueAt = row.notBefore ?? 0
    if (onlyIfDue && status === 'pending' && dueAt > at) return { kind: 'refused', reason: 'early', status, dueAt }
    const failure = failureOf(row, maxDeliveries, at)
    if (failure !== undefined) return { kind: 'failed', ...this.#failUnrun(row, failure, at) }
    const attempt = row.attempts.length + 1
    row.status = 'running'
    row.attempts.push({ attempt, workerId, startedAt: new Date(at).toISOString(), status: 'in-progress' })
    logEvent(row, { at: new Date(at).toISOString(), kind: 'claimed', workerId })
    this.#rows.lease(row, at + visibilityTimeoutMs)
    return { kind: 'begun', stored: toStoredTask(row), attempt, at }
  }

  #failUnrun(row: MemoryRow, error: MaxDeliveriesExceededError | TaskExpiredError, at: number): FailedTask {
    this.#rows.settle(row, at, () => failUnrun(row, error, at))
    return { stored: toStoredTask(row), at, ...this.#tree.end(row, at) }
  }

  #discard(taskId: string): boolean {
    const row = this.#rows.get(taskId)
    if (row?.status !== 'failed') return false
    this.#retention.discard(row, this.#now())
    return true
  }

  #read(taskId: string): StoredTask | undefined {
    const row = this.#rows.get(taskId)
    return row === undefined || this.#retention.isOver(row, this.#now()) ? undefined : toStoredTask(row)
  }

  /** Runs one step. It is synchronous, which makes it atomic; what it throws becomes a rejection. */
  #step<T>(step: () => T): Promise<T> {
    return new Promise((resolve) => {
      // Nobody has to come round for rows to go, as long as anything happens at all.
      this.#retention.remove(TIDIED_PER_STEP, this.#now())
      resolve(step())
    })
  }
}

const hasOwnPolicy = ({ created, retentionPolicy }: MemoryRow): boolean =>
  created.isPolicyGiven === true || !isDefaultPolicy(retentionPolicy)

/** Why a row that could be run must not be. */
const failureOf = (
  row: MemoryRow,
  maxDeliveries: number,
  at: number,
): MaxDeliveriesExceededError | TaskExpiredError | undefined => {
  if (row.losses >= maxDeliveries) return new MaxDeliveriesExceededError(row.created.id, row.losses)
  return deadlineOf(row) <= at ? new TaskExpiredError(row.created.id) : undefined
}
