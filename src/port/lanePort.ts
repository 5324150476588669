import type { IdempotencyLeaseInput } from '@furystack/task-runner'
import type { Observable } from 'rxjs'

import type { Claim } from '../claim/claim.js'
import type { Lane } from '../keys/lane.js'

/**
 * A lane as one worker reads it.
 *
 * @example
 * const reading: LaneReading = { lane: lane('mail', 1), visibilityTimeoutMs: 60_000, cap: 10 }
 */
export interface LaneReading {
  /** The lane. */
  readonly lane: Lane
  /** After how many idle milliseconds a claim of this lane may be taken over. */
  readonly visibilityTimeoutMs: number
  /** How many claims of the lane's type may be open in the whole fleet. */
  readonly cap?: number
  /** How many attempts a task of the lane may lose, where attempts begin in the claim step; without it there is no limit. */
  readonly maxDeliveries?: number
}

/**
 * Asks for at most one entry for each of the slots, from the lanes in the order given, taking turns.
 *
 * @example
 * const request: ReadRequest = { workerId: 'w', slots: ['w-slot-0', 'w-slot-1'], lanes }
 * port.read(request).subscribe(({ claims }) => console.log(claims.length)) // 2 at most
 */
export interface ReadRequest {
  /** Who reads. */
  readonly workerId: string
  /** Consumer names of free slots. */
  readonly slots: readonly string[]
  /** Where to look, the first lane first. */
  readonly lanes: readonly LaneReading[]
  /** The last read gave all that it asked for: then some of many lanes may give up to eight at once. @default false */
  readonly isFlowing?: boolean
}

/**
 * An entry that was taken out of its lane, and lies in the dead letters now.
 *
 * @example
 * port.read({ workerId: 'w', slots: ['w-slot-0'], lanes }).subscribe(({ setAside = [] }) => {
 *   setAside.forEach(({ lane: name, reason }: SetAside) => console.warn(name, reason))
 * })
 */
export interface SetAside {
  /** Of the dead letter. */
  readonly id: string
  /** Name of the lane, or `scheduler`. */
  readonly lane: string
  /** `unreadable`: it made no sense. `lost`: it was delivered as often as it may be. */
  readonly reason: 'unreadable' | 'lost'
}

/**
 * What a read brought.
 *
 * @example
 * port.read({ workerId: 'w', slots: ['w-slot-0'], lanes }).subscribe(({ claims, full }: ReadReply) => {
 *   console.log(claims.length, 'claimed', full.length, 'at their cap')
 * })
 */
export interface ReadReply {
  /** What was claimed, at most one for each slot. */
  readonly claims: readonly Claim[]
  /** Lanes that were not read because their type is at its cap. */
  readonly full: readonly Lane[]
  /** Absent for none. */
  readonly setAside?: readonly SetAside[]
}

/**
 * Asks for at most one stale claim for each of the slots.
 *
 * @example
 * const request: SweepRequest = { workerId: 'w', slots: ['w-slot-0'], lanes, positions: new Map([['mail:v1', '-']]) }
 * port.sweep(request).subscribe()
 */
export interface SweepRequest extends ReadRequest {
  /** Where the last sweep stopped, by lane name. */
  readonly positions?: ReadonlyMap<string, string>
  /** What the asker works on: left alone. So is what other slots than those given have read. */
  readonly working?: Iterable<Claim>
  /** A read of the asker was not answered: what its slots have that it does not work on is claimed at once. @default false */
  readonly isUnanswered?: boolean
}

/**
 * What a sweep brought, and when the next is worth it.
 *
 * @example
 * port.sweep({ workerId: 'w', slots: ['w-slot-0'], lanes }).subscribe(({ nextStaleMs, positions }: SweepReply) => {
 *   console.log(`sweep again in ${nextStaleMs} ms, from`, positions)
 * })
 */
export interface SweepReply {
  /** What was taken over, at most one for each slot. */
  readonly claims: readonly Claim[]
  /** Milliseconds until another of the entries that were looked at could become stale; 0 if some are, but found no slot. */
  readonly nextStaleMs: number
  /** Where it stopped, by lane name; `-`: at the end. */
  readonly positions: ReadonlyMap<string, string>
  /** Absent for none. */
  readonly setAside?: readonly SetAside[]
}

/**
 * What an idle worker waits for, and what it reads then. A bell of any of the lanes ends the wait; without slots nothing is
 * read.
 *
 * @example
 * const request: ListenRequest = { workerId: 'w', slots: ['w-slot-0'], lanes, schedule: true, blockMs: 1_000 }
 * port.listen(request).subscribe(({ bell, claims }) => console.log(bell, claims.length))
 */
export interface ListenRequest extends ReadRequest {
  /** Whether to be told of a new earliest entry in the schedule too. */
  readonly schedule: boolean
  /** How long to wait at most, in milliseconds. */
  readonly blockMs: number
}

/**
 * Something may be there: in a lane, under a cap, or at the head of the schedule.
 *
 * @example
 * const isForLanes = (bell: Bell): boolean => bell === 'lanes'
 */
export type Bell = 'lanes' | 'schedule'

/**
 * What ended a wait, and what the read after it brought.
 *
 * @example
 * port.listen({ workerId: 'w', slots: [], lanes, schedule: true, blockMs: 1_000 }).subscribe((reply: ListenReply) => {
 *   console.log(reply.bell ?? 'nothing rang')
 * })
 */
export interface ListenReply extends ReadReply {
  /** Absent when the time was over, or the worker was woken. */
  readonly bell?: Bell
}

/**
 * Asks for what is due to be moved from the schedule to its lanes.
 *
 * @example
 * const request: PromoteRequest = { promoterId: 'w', roleMs: 1_000, limit: 250 }
 * port.promote(request).subscribe()
 */
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

/**
 * What a look at the schedule came to.
 *
 * @example
 * port.promote({ promoterId: 'w', roleMs: 1_000, limit: 250 }).subscribe((reply: PromoteReply) => {
 *   if (reply.isPromoter) console.log(`${reply.moved} moved, the next in ${reply.nextDueMs ?? Infinity} ms`)
 * })
 */
export interface PromoteReply {
  /** Whether the asker has the role. */
  readonly isPromoter: boolean
  /** How many entries were moved. */
  readonly moved: number
  /** Milliseconds until the next entry is due (0: now); absent when nothing is parked, or somebody else promotes. */
  readonly nextDueMs?: number
  /** Size of the lane registry; when it grows there are lanes to be learned of. */
  readonly knownLanes: number
  /** Absent for none. */
  readonly setAside?: readonly SetAside[]
}

/**
 * Ends a delivery: for good, or by putting the task back, after `delayMs` or not before `notBefore` (epoch ms).
 *
 * @example
 * const again: Settlement = { kind: 'requeue', delayMs: 1_000 }
 * port.settle(claim, again).subscribe()
 */
export type Settlement =
  { readonly kind: 'done' } | { readonly kind: 'requeue'; readonly delayMs?: number; readonly notBefore?: number }

/**
 * `lost`: the claim was no longer ours, and nothing was changed.
 *
 * @example
 * port.settle(claim, { kind: 'done' }).subscribe((reply: SettleReply) => {
 *   if (reply === 'lost') console.warn('somebody else has it')
 * })
 */
export type SettleReply = 'settled' | 'lost'

/**
 * Takes the consumers of a worker that ends off their groups, and those that nobody owns any more.
 *
 * @example
 * const request: RetireRequest = { workerId: 'w', slots: ['w-slot-0'], lanes: [lane('mail', 1)], goneMs: 180_000 }
 * port.retire(request).subscribe()
 */
export interface RetireRequest {
  /** The worker that ends: its promoter's role is given back. */
  readonly workerId?: string
  /** Consumers to remove. */
  readonly slots: readonly string[]
  /** The lanes whose groups the consumers are taken off. */
  readonly lanes: readonly Lane[]
  /** Consumers that have been idle for longer belong to nobody any more and go too; 0 spares them. */
  readonly goneMs: number
}

/**
 * A task to be put into its lane, or parked until it is due.
 *
 * @example
 * const entry: Entry = { taskId: 'a', lane: lane('mail', 1), notBefore: Date.now() + 60_000 }
 * port.enqueue(entry).subscribe()
 */
export interface Entry {
  /** The task, whose row is elsewhere. */
  readonly taskId: string
  /** Where its workers look for it. */
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
 *
 * @example
 * const read$ = port.read({ workerId: 'w', slots: ['w-slot-0'], lanes }) // nothing is sent before somebody subscribes
 * read$.subscribe(({ claims }) => console.log(claims.length))
 */
export interface LanePort {
  /** Reads new entries for free slots. */
  read(request: ReadRequest): Observable<ReadReply>
  /** Claims entries that their owners have let idle beyond the visibility. */
  sweep(request: SweepRequest): Observable<SweepReply>
  /**
   * Waits for a bell, or until `blockMs` have passed, and then reads: one round trip for both. Emits one reply.
   * Unsubscribe: what is claimed afterwards is handed back, and a bell that was heard for nothing is rung again.
   */
  listen(request: ListenRequest): Observable<ListenReply>
  /** Ends that worker's wait at once, or the next one if it does not wait; forgotten after a minute. */
  wake(workerId: string): Observable<void>
  /** Moves due entries from the schedule to their lanes. */
  promote(request: PromoteRequest): Observable<PromoteReply>
  /** Ends a delivery, if it is still ours. */
  settle(claim: Claim, settlement: Settlement): Observable<SettleReply>
  /** Renews claims, all in one round trip; tells for each whether it is still ours. */
  extend(claims: readonly Claim[]): Observable<readonly boolean[]>
  /** Gives back claims that were never started, so that they run elsewhere at once; no attempt is counted. */
  handBack(claims: readonly Claim[]): Observable<void>
  /** Puts a task into its lane, or parks it until it is due. */
  enqueue(entry: Entry): Observable<void>
  /** The lanes that have ever been written to. */
  knownLanes(): Observable<readonly Lane[]>
  /** Takes consumers off the groups, those without pending entries. */
  retire(request: RetireRequest): Observable<void>
  /** Answers which task holds an idempotency key. */
  lease(input: IdempotencyLeaseInput): Observable<string>
}
