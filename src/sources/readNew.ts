import { concat, defer, EMPTY, type Observable, tap } from 'rxjs'

import type { Claim } from '../claim/claim.js'
import type { Report } from '../events/laneEvent.js'
import type { LanePort, LaneReading, ReadReply } from '../port/lanePort.js'
import type { ClaimSource } from './claimSource.js'
import { deliverClaims } from './deliverClaims.js'
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
 * A read names all lanes, which costs something for each. Where there are many and entries in most of them, those that a
 * read did not come to are left out: only the first few are asked, and the rest at once if these do not give enough.
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
  /** How many reads in a row have found all they asked for in the first few lanes. */
  let inFew = 0
  const read = (slots: readonly string[], asked: readonly LaneReading[], from: number): Observable<Claim> => {
    const isEnough = (reply: ReadReply): boolean =>
      reply.claims.length === slots.length &&
      reply.claims.every((claim) => isAmong(asked, fewFor(slots), claim.lane.name))
    return deliverClaims(
      port,
      port.read({ workerId, slots, lanes: asked, ...(isFlowing && asked.length > 1 && { isFlowing }) }),
      report,
      (reply) => {
        if (asked.length > fewFor(slots) || inFew > 0) inFew = isEnough(reply) ? inFew + 1 : 0
        goOnFrom(from + reached(asked, reply.claims))
        isFlowing = reply.claims.length === slots.length
        onReply?.(reply)
        reportReading(reply, report)
      },
    )
  }
  return (slots) =>
    defer(() => {
      const from = turn
      const all = rotated(lanes(), from)
      goOnFrom(from + 1)
      const few = fewFor(slots)
      if (all.length <= few || inFew < Math.min(all.length, SURE_AFTER)) return read(slots, all, from)
      const taken = new Set<string>()
      return concat(
        read(slots, all.slice(0, few), from).pipe(tap((claim) => taken.add(claim.slot))),
        defer(() => {
          const left = slots.filter((slot) => !taken.has(slot))
          return left.length === 0 ? EMPTY : read(left, all.slice(few), from + few)
        }),
      )
    })
}

/** Reads in a row that show that the first few lanes give enough. To be wrong costs one round trip more. */
const SURE_AFTER = 64

/** How many lanes are worth asking together in any case; never fewer than could give one entry to each slot. */
const fewFor = (slots: readonly string[]): number => Math.max(4, slots.length)

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

const isAmong = (readings: readonly LaneReading[], first: number, name: string): boolean => {
  for (let at = 0; at < first && at < readings.length; at++) if (readings[at]?.lane.name === name) return true
  return false
}

const rotated = <T>(list: readonly T[], turn: number): readonly T[] => {
  if (list.length < 2) return list
  const start = turn % list.length
  return start === 0 ? list : [...list.slice(start), ...list.slice(0, start)]
}
