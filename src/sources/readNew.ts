import { defer } from 'rxjs'

import type { Report } from '../events/laneEvent.js'
import type { LanePort, LaneReading, ReadReply } from '../port/lanePort.js'
import type { ClaimSource } from './claimSource.js'
import { reportSetAside } from './reportSetAside.js'
import { deliverClaims } from './deliverClaims.js'

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
 * one lane further on than the last, and within a read each lane gives one entry before any gives a second.
 *
 *     demand 2   ^--(ab|)    two entries
 *     demand 2   ^--|        the lanes are empty
 *     demand 2   ^--#        the server refused
 *
 * Subscribe: one round trip.  Emits: claims.  Completes: after the reply.
 * Errors: {@link LaneError}.  Unsubscribe: the reply is still read and its claims handed back.
 * Scheduler: none.  Buffers: nothing.
 *
 * @example
 * const source = readNew(port, { workerId: 'w', lanes: () => [{ lane: lane('mail', 1), visibilityTimeoutMs: 60_000 }] })
 */
export function readNew(port: LanePort, options: ReadNewOptions): ClaimSource {
  const { workerId, lanes, onReply, report } = options
  let turn = 0
  const tell = (reply: ReadReply): void => {
    onReply?.(reply)
    if (reply.full.length > 0) report?.({ kind: 'capFull', lanes: reply.full })
    reportSetAside(reply, report)
  }
  return (slots) =>
    deliverClaims(
      port,
      defer(() => port.read({ workerId, slots, lanes: rotated(lanes(), turn++) })),
      report,
      tell,
    )
}

const rotated = <T>(list: readonly T[], turn: number): readonly T[] => {
  if (list.length < 2) return list
  const start = turn % list.length
  return start === 0 ? list : [...list.slice(start), ...list.slice(0, start)]
}
