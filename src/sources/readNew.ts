import { concat, defer, EMPTY, type Observable } from 'rxjs'

import type { Claim } from '../claim/claim.js'
import type { Report } from '../events/laneEvent.js'
import type { LanePort, LaneReading, ReadReply } from '../port/lanePort.js'
import type { ClaimSource } from './claimSource.js'
import { deliverClaims } from './deliverClaims.js'
import { ReadWidth } from './readWidth.js'
import { reportReading } from './reportReading.js'

/**
 * How {@link readNew} reads.
 *
 * @example
 * const options: ReadNewOptions = { workerId: 'w', lanes: () => lanes, report }
 */
export interface ReadNewOptions {
  /** Who reads. */
  readonly workerId: string
  /** Asked before each read, because lanes come and go. */
  readonly lanes: () => readonly LaneReading[]
  /** Called with each reply before its claims are emitted. */
  readonly onReply?: (reply: ReadReply) => void
  /** Told of what was set aside. @default nobody */
  readonly report?: Report
}

/**
 * Claims entries that nobody has had yet, at most one for each slot of the demand. Lanes take turns: each read begins
 * behind the lanes that have given something to the last one, at least one further on. A lane gives its share of the
 * slots at once, and of many lanes some give up to eight where the last read gave all that it asked for. So none is passed over.
 *
 *     demand 2   ^--(ab|)    two entries
 *     demand 2   ^--|        the lanes are empty
 *     demand 2   ^--#        the server refused
 *
 * A read names all lanes, which costs something for each. Of many that have something to give it names as many as were
 * needed of late, and the rest at once if these do not give enough: see `ReadWidth`.
 *
 * Subscribe: one round trip, or two.  Emits: claims.  Completes: after the reply.
 * Errors: {@link LaneError}.  Unsubscribe: the reply is still read and its claims handed back.
 * Scheduler: none.  Buffers: nothing.
 *
 * @example
 * const source = readNew(port, { workerId: 'w', lanes: () => [{ lane: lane('mail', 1), visibilityTimeoutMs: 60_000 }] })
 */
export function readNew(port: LanePort, options: ReadNewOptions): ClaimSource {
  const { workerId, lanes, onReply, report } = options
  let turn = 0
  /** Never past a lane that was not asked, however many reads are on their way. */
  const goOnFrom = (next: number): void => {
    turn = Math.max(turn, next)
  }
  /** Whether the last read gave all that it asked for. */
  let isFlowing = false
  const width = new ReadWidth()
  const read = (
    slots: readonly string[],
    asked: readonly LaneReading[],
    from: number,
    onAnswer: (claims: readonly Claim[]) => void,
  ): Observable<Claim> =>
    deliverClaims(
      port,
      port.read({ workerId, slots, lanes: asked, ...(isFlowing && asked.length > 1 && { isFlowing }) }),
      report,
      (reply) => {
        goOnFrom(from + reached(asked, reply.claims))
        isFlowing = reply.claims.length === slots.length
        onAnswer(reply.claims)
        onReply?.(reply)
        reportReading(reply, report)
      },
    )
  return (slots) =>
    defer(() => {
      const from = turn
      const all = lanes()
      const named = width.of(all.length)
      const asked = turned(all, from, named)
      let left: readonly string[] = []
      goOnFrom(from + 1)
      const claims$ = read(slots, asked, from, (claims) => {
        if (claims.length >= slots.length) width.gaveAll(lanesOf(asked, claims), all.length, slots.length)
        else if (named === all.length) width.fellShort(false, slots.length)
        else left = slots.filter((slot) => !claims.some((claim) => claim.slot === slot))
      })
      if (named === all.length) return claims$
      const others$ = defer(() => {
        if (left.length === 0) return EMPTY
        return read(left, turned(all, from + named, all.length - named), from + named, (claims) => {
          width.fellShort(claims.length >= left.length, slots.length)
        })
      })
      return concat(claims$, others$)
    })
}

/** How many lanes, from the first on, a read has come to for certain. */
const reached = (readings: readonly LaneReading[], claims: readonly Claim[]): number => {
  let at = 0
  for (const { lane } of claims) {
    while (at < readings.length && readings[at]?.lane.name !== lane.name) at++
    // One gives again: all others were asked before.
    if (at === readings.length) return at
  }
  return claims.length === 0 ? 0 : at + 1
}

/** How many lanes, from the first on, hold all that was given. */
const lanesOf = (readings: readonly LaneReading[], claims: readonly Claim[]): number => {
  let last = 0
  for (const { lane } of claims) {
    let at = 0
    while (at < readings.length && readings[at]?.lane.name !== lane.name) at++
    last = Math.max(last, at)
  }
  return last + 1
}

/** So many of them in their order, from one on; the first follows the last. */
const turned = <T>(list: readonly T[], from: number, count = list.length): readonly T[] => {
  if (list.length < 2) return list
  const start = from % list.length
  if (start + count <= list.length)
    return start === 0 && count === list.length ? list : list.slice(start, start + count)
  return [...list.slice(start), ...list.slice(0, start + count - list.length)]
}
