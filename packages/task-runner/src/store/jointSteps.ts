import type { DeadLetterBox } from '../deadLetters/deadLetterBox.js'
import type { ClaimedTask } from '../queue/queueAdapter.js'
import type { CancelResult, CancelTask } from './cancelTask.js'
import type { CreateManyResult, CreateResult, CreateTask } from './createTask.js'
import type { ExtendAttempt, ExtendResult } from './extendAttempt.js'
import type { FinishAttempt, FinishResult } from './finishAttempt.js'
import type { SpawnChild, SpawnResult } from './spawnChild.js'
import type { StartResult, StartTask } from './startTask.js'
import type { FailedTask } from './storedTask.js'

/**
 * The steps that a transport and a store take as one atomic step because they share a broker. A core that is given them
 * uses them in place of the separate pairs (row, then entry), so that no crash can come between the two, and finds
 * {@link ClaimedTask.begun} on every claim. A step that wakes a parent adds the parent's entry as well.
 *
 * @example
 * const joint: JointSteps | undefined = adapter.joint?.(store)
 * const created = await (joint ? joint.submit(draft) : store.create(draft))
 */
export interface JointSteps {
  /**
   * Row and entry; for the rest like the store's `create`. With an idempotency key the key's lease is taken in the same
   * step; a holder whose row never came into being is made under its id.
   */
  submit(input: CreateTask): Promise<CreateResult>
  /**
   * The same for many tasks in as few steps as the broker allows, answers in order; without it they are submitted one by
   * one. A step is all or nothing, and nothing where a key belongs to another payload. When it rejects, the steps before
   * it have been taken.
   *
   * @param onResults may be given the results of each step as soon as they are there, in order, so that the caller works on
   * them while the broker works on the next; it does not throw
   */
  submitMany?(
    inputs: readonly CreateTask[],
    onResults?: (results: readonly CreateManyResult[]) => void,
  ): Promise<CreateManyResult[]>
  /** Draft to pending, and its entry. */
  start(input: StartTask): Promise<StartResult>
  /** Ends the attempt, settles its claim, and adds the entry of a retry. After it the outcome has nothing left to do. */
  finish(claim: ClaimedTask, input: FinishAttempt): Promise<FinishResult>
  /** Extends both the claim's visibility and the attempt's lease, for all given claims together, answers in order. */
  extend(claims: ReadonlyArray<{ claim: ClaimedTask; input: ExtendAttempt }>): Promise<ExtendResult[]>
  /** The child, its place in the parent, the parent's step, and the child's entry. */
  spawn(input: SpawnChild): Promise<SpawnResult>
  /** Cancels, and takes the entry of a parked task out of the schedule. */
  cancel(input: CancelTask): Promise<CancelResult>
  /** Fails the tasks that were not begun in time, and takes the entries of parked ones out of the schedule. */
  expireTasks(query: { limit: number }): Promise<FailedTask[]>
  /** The dead letters of store and queue; to send one again makes its entry as well. */
  readonly deadLetters: DeadLetterBox
}
