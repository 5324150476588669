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
 * A list, in which the last takes the place of the one that leaves, rather than a set: a source may emit the same claim twice,
 * and then it is worked on twice.
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
    const added = new Worked(claim, this.list.length)
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

/** A class, because there is one for each task in work: see "Classes for what is in work" in docs/performance.md. */
class Worked implements WorkingClaim {
  constructor(
    readonly claim: Claim,
    public at: number,
  ) {}
}
