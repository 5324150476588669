import type { Claim } from './claim.js'

/**
 * A claim's place among the {@link WorkingClaims}.
 *
 * @example
 * const worked: WorkingClaim = new WorkingClaims().add(claim)
 */
export interface WorkingClaim {
  /** The claim itself. */
  readonly claim: Claim
  /** Where it stands. */
  at: number
}

/**
 * The claims that a worker works on, in no order.
 *
 * A list, because claims come and go with each task: V8 makes a set's table anew every few dozen of them, among the old
 * objects once the set is old, and all that a table named when it was left gets old with it. That took a worker with 50
 * slots a quarter more of its processor for each task.
 *
 * @example
 * const working = new WorkingClaims()
 * const worked = working.add(claim)
 * working.remove(worked)
 */
export class WorkingClaims implements Iterable<Claim> {
  private readonly list: WorkingClaim[] = []

  /** How many there are. */
  get size(): number {
    return this.list.length
  }

  /** Answers what it is taken out by. */
  add(claim: Claim): WorkingClaim {
    const added = { claim, at: this.list.length }
    this.list.push(added)
    return added
  }

  /** Once for each that was added: the last of the list takes its place. */
  remove(removed: WorkingClaim): void {
    const last = this.list.pop()
    if (last === undefined || last === removed) return
    last.at = removed.at
    this.list[removed.at] = last
  }

  /** Each of them, while nothing is added or removed. */
  *[Symbol.iterator](): Generator<Claim> {
    for (const { claim } of this.list) yield claim
  }
}
