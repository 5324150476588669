import type { IdempotencyLeaseInput } from '@furystack/task-runner'
import type { Observable } from 'rxjs'

import type { Claim } from '../claim/claim.js'
import type { Lane } from '../keys/lane.js'

/** A lane as one worker reads it. */
export interface LaneReading {
  readonly lane: Lane
  /** After how many idle milliseconds a claim of this lane may be taken over. */
  readonly visibilityTimeoutMs: number
  /** How many claims of the lane's type may be open in the whole fleet. */
  readonly cap?: number
  /** How many attempts a task of the lane may lose, where attempts begin in the claim step; without it there is no limit. */
  readonly maxDeliveries?: number
}

/** Asks for at most one entry for each of the slots, from the lanes in the order given, taking turns. */
export interface ReadRequest {
  readonly workerId: string
  /** Consumer names of free slots. */
  readonly slots: readonly string[]
  readonly lanes: readonly LaneReading[]
}

/** An entry that was taken out of its lane, and lies in the dead letters now. */
export interface SetAside {
  /** Of the dead letter. */
  readonly id: string
  /** Name of the lane, or `scheduler`. */
  readonly lane: string
  readonly reason: 'unreadable' | 'lost'
}

export interface ReadReply {
  readonly claims: readonly Claim[]
  /** Lanes that were not read because their type is at its cap. */
  readonly full: readonly Lane[]
  /** Absent for none. */
  readonly setAside?: readonly SetAside[]
}

export interface SweepRequest extends ReadRequest {
  /** Where the last sweep stopped, by lane name. */
  readonly positions?: ReadonlyMap<string, string>
}

export interface SweepReply {
  readonly claims: readonly Claim[]
  /** Milliseconds until another of the entries that were looked at could become stale; 0 if some are, but found no slot. */
  readonly nextStaleMs: number
  /** Where it stopped, by lane name; `-`: at the end. */
  readonly positions: ReadonlyMap<string, string>
  /** Absent for none. */
  readonly setAside?: readonly SetAside[]
}

/** What an idle worker waits for. */
export interface ListenRequest {
  readonly lanes: readonly LaneReading[]
  /** Whether to be told of a new earliest entry in the schedule too. */
  readonly schedule: boolean
  readonly blockMs: number
}

/** Something may be there: in a lane, under a cap, or at the head of the schedule. */
export type Bell = 'lanes' | 'schedule'

export interface PromoteRequest {
  /** Who asks. One at a time promotes; the others are told to wait. */
  readonly promoterId: string
  /** How long the role lasts without being asked again, in milliseconds. */
  readonly roleMs: number
  /** How many entries to move at most. */
  readonly limit: number
  /** Takes the role whoever has it, because the asker has heard the schedule's bell and so has time for it. */
  readonly takeOver?: boolean
}

export interface PromoteReply {
  /** Whether the asker has the role. */
  readonly isPromoter: boolean
  readonly moved: number
  /** Milliseconds until the next entry is due (0: now); absent when nothing is parked, or somebody else promotes. */
  readonly nextDueMs?: number
  /** Size of the lane registry; when it grows there are lanes to be learned of. */
  readonly knownLanes: number
  /** Absent for none. */
  readonly setAside?: readonly SetAside[]
}

/** Ends a delivery: for good, or by putting the task back, after `delayMs` or not before `notBefore` (epoch ms). */
export type Settlement =
  { readonly kind: 'done' } | { readonly kind: 'requeue'; readonly delayMs?: number; readonly notBefore?: number }

/** `lost`: the claim was no longer ours, and nothing was changed. */
export type SettleReply = 'settled' | 'lost'

export interface RetireRequest {
  /** The worker that ends: its promoter's role is given back. */
  readonly workerId?: string
  /** Consumers to remove. */
  readonly slots: readonly string[]
  readonly lanes: readonly Lane[]
  /** Consumers that have been idle for longer belong to nobody any more and go too; 0 spares them. */
  readonly goneMs: number
}

/** A task to be put into its lane, or parked until it is due. */
export interface Entry {
  readonly taskId: string
  readonly lane: Lane
  /** Epoch milliseconds. */
  readonly notBefore?: number
}

/**
 * Everything that lanes need of Redis. Each operation is a cold Observable that sends when it is subscribed to, emits its
 * reply and completes; it errors with a {@link LaneError}. Unsubscribing does not take a command back.
 *
 * There are two implementations: over node-redis, and `virtualLanePort` in virtual time for tests; both pass one
 * suite. A marble for an operation does as well.
 */
export interface LanePort {
  /** Reads new entries for free slots. */
  read(request: ReadRequest): Observable<ReadReply>
  /** Claims entries that their owners have let idle beyond the visibility. */
  sweep(request: SweepRequest): Observable<SweepReply>
  /** Waits on the connection for reading; emits a bell or nothing, then completes. */
  listen(request: ListenRequest): Observable<Bell>
  /** Moves due entries from the schedule to their lanes. */
  promote(request: PromoteRequest): Observable<PromoteReply>
  /** Ends a delivery, if it is still ours. */
  settle(claim: Claim, settlement: Settlement): Observable<SettleReply>
  /** Renews claims, all in one round trip; tells for each whether it is still ours. */
  extend(claims: readonly Claim[]): Observable<readonly boolean[]>
  /** Gives back claims that were never started, so that they run elsewhere at once; no attempt is counted. */
  handBack(claims: readonly Claim[]): Observable<void>
  enqueue(entry: Entry): Observable<void>
  /** The lanes that have ever been written to. */
  knownLanes(): Observable<readonly Lane[]>
  /** Takes consumers off the groups, those without pending entries. */
  retire(request: RetireRequest): Observable<void>
  /** Answers which task holds an idempotency key. */
  lease(input: IdempotencyLeaseInput): Observable<string>
}
