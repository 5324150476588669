import { defineService, type Token } from '@furystack/inject'

import type { DeadLetterBox } from '../deadLetters/deadLetterBox.js'
import type { BeginAttempt, BeginResult } from './beginAttempt.js'
import type { CancelResult, CancelTask } from './cancelTask.js'
import type { CreateManyResult, CreateResult, CreateTask } from './createTask.js'
import type { DueBlobsPage, SettleBlobs, TakeDueBlobs } from './dueBlobs.js'
import type { ExtendAttempt, ExtendResult } from './extendAttempt.js'
import type { FinishAttempt, FinishResult } from './finishAttempt.js'
import type { RecordBlob, RecordBlobResult } from './recordBlob.js'
import type { RecordedStep, RecordStep, RecordStepResult } from './recordStep.js'
import type { OrphanedFamily } from './orphanedFamily.js'
import type { RemovedRows } from './removedRows.js'
import type { LeadRole, Role } from './role.js'
import type { SpawnChild, SpawnResult } from './spawnChild.js'
import type { StartResult, StartTask } from './startTask.js'
import type { ExpiredTask, FailedTask, StoredTask } from './storedTask.js'

/**
 * Where task rows live. It speaks in transitions: each operation is one atomic conditional write that answers with the
 * new state or with the reason for its refusal, so that no two processes can undo each other's work. Terminal is final.
 *
 * Times are the store's own clock: a store that several processes share uses one clock for all of them. What comes back
 * is always a fresh copy.
 *
 * Whatever ends a task also tells its parent, in the same write: the parent's history gets a `child-completed`, and a
 * parent that waited for this child as its last one becomes pending, due at that time and marked as not yet enqueued.
 *
 * Operations reject only for trouble of the store itself (it cannot be reached, it refused the write).
 *
 * @example
 * const created = await store.create({
 *   id: 'a', type: 'mail', handlerVersion: 1, status: 'pending', payloadJson: '{}', tags: [],
 *   retentionPolicy: DEFAULT_RETENTION_POLICY,
 * })
 */
export interface TaskStore {
  /** Whether several processes see the same rows. */
  readonly shared: boolean
  /**
   * The rows that have failed, from the write on that ended them, until they are sent again, discarded or removed. To send
   * one again makes it pending, marked as not yet enqueued: failures, losses and result are as new, it has no error and no
   * `startBefore`, attempts and history stay, its parent counts it as open, and it holds its idempotency key. It is refused
   * if its parent is over or gone, or its key belongs to another task.
   */
  readonly deadLetters: DeadLetterBox

  /**
   * Inserts the row unless one with its id exists, or its idempotency key belongs to another. A pending row is marked as not yet enqueued. A row with a parent takes
   * its place among the parent's children in the same write, which is refused below a parent that is over.
   */
  create(input: CreateTask): Promise<CreateResult>
  /**
   * The same for many rows in one step, all or nothing; answers in order. Without it they are created one by one, and what
   * is refused for one leaves the others.
   */
  createMany?(inputs: readonly CreateTask[]): Promise<CreateManyResult[]>
  /** The row, or `undefined` if there is none. */
  get(taskId: string): Promise<StoredTask | undefined>
  /** In the order of the ids; `undefined` for those that do not exist. */
  getMany(taskIds: readonly string[]): Promise<Array<StoredTask | undefined>>
  /** Draft to pending, marked as not yet enqueued. */
  start(input: StartTask): Promise<StartResult>
  /** Makes the caller the owner of the next attempt, or tells why not. */
  beginAttempt(input: BeginAttempt): Promise<BeginResult>
  /** A row that becomes pending again is marked as not yet enqueued. */
  finishAttempt(input: FinishAttempt): Promise<FinishResult>
  /** Extends the lease of an attempt, and stores its progress. */
  extendAttempt(input: ExtendAttempt): Promise<ExtendResult>
  /** Ends a task that nobody runs; tells the owner of one that somebody does. */
  cancel(input: CancelTask): Promise<CancelResult>

  /** The child's row, its place in the parent's, and the parent's step, in one conditional write. */
  spawnChild(input: SpawnChild): Promise<SpawnResult>
  /** Keeps what a handler has done, once. */
  recordStep(input: RecordStep): Promise<RecordStepResult>
  /** All recorded steps of a task, in no particular order. */
  readSteps(taskId: string): Promise<RecordedStep[]>

  /**
   * Puts a blob on a task's record. What a task produces has a key that begins with `tasks/<taskId>/`. The record stays
   * until the blobs have been dealt with, also where the row goes before that.
   */
  recordBlob(input: RecordBlob): Promise<RecordBlobResult>
  /**
   * Takes tasks whose blobs in one store are to be dealt with, because they have been over for as long as their policies
   * say, longest first. Until the lease ends nobody else is given them.
   *
   * A blob that a task produced is in use while another one, which was given it, has it on its record. One that a task was
   * given is left to the others that have it on theirs: it goes off this record in the same step.
   */
  takeDueBlobs(query: TakeDueBlobs): Promise<DueBlobsPage>
  /** Says what came of a task that was taken. Once all of its blob stores are done with, it is marked as swept. */
  settleBlobs(input: SettleBlobs): Promise<void>

  /**
   * Takes the mark "not yet enqueued" off a pending row, if it has had exactly so many attempts: a row that has come
   * back to pending since its entry was made needs another one.
   */
  markEnqueued(taskId: string, attempts: number): Promise<void>
  /** Pending rows that have carried the mark for longer than `olderThanMs`, oldest first. */
  findUnqueued(query: { olderThanMs: number; limit: number }): Promise<StoredTask[]>
  /**
   * Ends the leases that have run out, oldest first: `running` rows become `pending` (marked as not yet enqueued, their
   * attempt `timed-out`), `cancelling` rows become `cancelled`. Each is one conditional write; answers what changed.
   */
  expireAttempts(query: { limit: number }): Promise<ExpiredTask[]>
  /**
   * Fails the pending rows that have not been begun and whose `startBefore` is over, oldest first; each is one conditional
   * write. Answers what changed.
   */
  expireTasks(query: { limit: number }): Promise<FailedTask[]>

  /**
   * Tasks that have ended with open children for longer than `olderThanMs`, longest first. Whatever ends a task with open
   * children marks it in the same write; the mark comes off by `markReaped`, or when none of them is open any more.
   */
  findOrphaned(query: { olderThanMs: number; limit: number }): Promise<OrphanedFamily[]>
  /** The open children of these tasks have been told to cancel, or had been before. */
  markReaped(parentIds: readonly string[]): Promise<void>

  /**
   * Removes what is left of tasks that have been over for as long as their policies keep them, the longest first: rows,
   * history, steps. A task with children goes with all of them, once none of them is open. `limit` is how many rows are
   * looked at. A store may forget rows without children by itself.
   */
  removeExpired(query: { limit: number }): Promise<RemovedRows>

  /**
   * Takes a role that nobody holds, or keeps it if the holder is the same; answers whether the holder has it now. It has it
   * for `ttlMs`.
   */
  lead(input: LeadRole): Promise<boolean>
  /** Gives a role back; without effect if somebody else has it. */
  resign(input: Role): Promise<void>
}

/**
 * The store that runners keep their rows in. Nothing is bound by default, which means that the bound runner brings its
 * own: memory for the one in this process, Redis for the one on Redis.
 *
 * @example
 * injector.bind(TaskStore, () => new MemoryTaskStore())
 */
export const TaskStore: Token<TaskStore | undefined, 'singleton'> = defineService({
  name: 'furystack/task-runner/TaskStore',
  lifetime: 'singleton',
  factory: (): TaskStore | undefined => undefined,
})
