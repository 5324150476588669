import type { TaskStatus } from '../task/taskStatus.js'
import type { TaskUpdate } from '../task/taskUpdate.js'
import type { StatusUpdate } from './snapshotOf.js'

/** A claim that was told of. */
interface Claim {
  readonly at: number
  /** Whose word it was. */
  readonly via: unknown
  /** Whether the task was not told to be pending before, so that this is still to come. */
  isUnannounced: boolean
}

/** The way of a task in one attempt. */
const WAY: readonly TaskStatus[] = ['draft', 'pending', 'claimed', 'running', 'waiting', 'cancelling']

/**
 * Tells what is news for somebody who has been shown a row: neither what the row showed already, nor a status twice in a
 * row, nor that a task is pending which has been claimed since. Times are those of the store, by the millisecond; within
 * the row's own millisecond the way of a task decides.
 */
export class TaskNews {
  #shownAt = -Infinity
  /** What came before the row's status, within its millisecond. */
  #covered: readonly TaskStatus[] = []
  #newestAt = -Infinity
  #status: TaskStatus | undefined
  #claim: Claim | undefined

  /** The status that was told last. */
  get status(): TaskStatus | undefined {
    return this.#status
  }

  /** Somebody is shown a row. */
  show({ status, at }: StatusUpdate): void {
    this.#shownAt = Date.parse(at)
    this.#newestAt = this.#shownAt
    this.#covered = WAY.slice(0, WAY.indexOf(status))
    this.#status = status
  }

  /**
   * Whether an update is to be told; it counts as told then.
   *
   * @param via whose word it is
   */
  take(update: TaskUpdate, via?: unknown): boolean {
    const at = Date.parse(update.at)
    if (at < this.#shownAt) return false
    if (update.kind !== 'status') return true
    const { status } = update
    const isCovered = at === this.#shownAt && this.#covered.includes(status)
    if (status === 'claimed') this.#claim = { at, via, isUnannounced: !isCovered && this.#status !== 'pending' }
    if (status === this.#status) {
      // The updates have come to where the row was: whatever follows is new.
      this.#covered = []
      return false
    }
    // Who has seen the row knows of the draft, which it never is again.
    if (status === 'draft' || (status === 'pending' && this.#isOvertaken(at, via))) return false
    if (isCovered) return false
    this.#covered = []
    this.#status = status
    if (at > this.#newestAt) this.#newestAt = at
    return true
  }

  /** Whether a row is further than all that was told; within a millisecond the way of a task decides. */
  isBehind({ status, at }: StatusUpdate): boolean {
    if (status === this.#status) return false
    const step = WAY.indexOf(status)
    if (step === -1) return true
    const shownAt = Date.parse(at)
    if (shownAt !== this.#newestAt || this.#status === undefined) return shownAt > this.#newestAt
    return WAY.includes(this.#status) && step > WAY.indexOf(this.#status)
  }

  /** Whether a task has been claimed since it was pending. A run may fail within the millisecond of its claim. */
  #isOvertaken(at: number, via: unknown): boolean {
    const claim = this.#claim
    if (claim === undefined || at > claim.at) return false
    if (at < claim.at || via !== claim.via) return true
    const { isUnannounced } = claim
    claim.isUnannounced = false
    return isUnannounced
  }
}
