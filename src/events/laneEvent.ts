import type { DeadLetterReason } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'
import type { Lane } from '../keys/lane.js'
import type { Settlement } from '../port/lanePort.js'

/**
 * What happened, told on `events$`. Nothing that the library catches stays untold.
 *
 * - `claimed`, `reclaimed`: a new entry, or one whose owner let it idle, is ours.
 * - `settled`, `requeued`: a delivery ended, for good or by being put back.
 * - `deadLettered`: a task of ours has failed for good, or an entry was set aside; see the runner's `deadLetters`.
 * - `handedBack`: claims that were never started were given back.
 * - `leaseLost`: a claim was taken over by somebody else; what its late owner did to it had no effect.
 * - `capFull`: entries wait because their type is at its fleet cap.
 * - `promoted`: parked tasks became due.
 * - `lanesFound`: the registry named lanes that this worker now reads too.
 * - `overDelivered`: a source emitted a claim for a slot that was not asked for; it waits for a free one.
 * - `brokerError`: Redis could not be reached, or refused; `restMs` tells how long this activity pauses.
 * - `connectionLost`, `recovered`: once an incident.
 * - `evictionPossible`: the server may remove keys when its memory is full, and a removed key is a lost task; told once.
 *
 * @example
 * const isTrouble = ({ kind }: LaneEvent): boolean => kind === 'brokerError' || kind === 'connectionLost'
 */
export type LaneEvent =
  | { readonly kind: 'claimed' | 'reclaimed'; readonly claim: Claim }
  | { readonly kind: 'settled'; readonly claim: Claim }
  | { readonly kind: 'requeued'; readonly claim: Claim; readonly settlement: Settlement }
  | { readonly kind: 'deadLettered'; readonly id: string; readonly lane: string; readonly reason: DeadLetterReason }
  | { readonly kind: 'handedBack'; readonly claims: readonly Claim[] }
  | { readonly kind: 'leaseLost'; readonly claim: Claim }
  | { readonly kind: 'capFull'; readonly lanes: readonly Lane[] }
  | { readonly kind: 'promoted'; readonly count: number }
  | { readonly kind: 'lanesFound'; readonly lanes: readonly Lane[] }
  | { readonly kind: 'overDelivered'; readonly claim: Claim }
  | { readonly kind: 'brokerError'; readonly activity: string; readonly error: unknown; readonly restMs: number }
  | { readonly kind: 'connectionLost'; readonly connection: string; readonly error: unknown }
  | { readonly kind: 'recovered'; readonly connection: string }
  | { readonly kind: 'evictionPossible'; readonly policy: string }

/**
 * Where events go.
 *
 * @example
 * const report: Report = (event) => {
 *   if (event.kind === 'settled') console.log(event.claim.taskId)
 * }
 */
export type Report = (event: LaneEvent) => void
