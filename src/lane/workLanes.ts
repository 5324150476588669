import {
  asyncScheduler,
  catchError,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  ignoreElements,
  merge,
  type MonoTypeOperatorFunction,
  type Observable,
  repeat,
  type SchedulerLike,
  shareReplay,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
  timer,
} from 'rxjs'

import type { Claim } from '../claim/claim.js'
import { WorkingClaims } from '../claim/workingClaims.js'
import { promoteWhenDue } from '../delayed/promoteWhenDue.js'
import { OutcomeUnknownError } from '../errors/outcomeUnknownError.js'
import type { Bell, LanePort, LaneReading } from '../port/lanePort.js'
import type { ClaimSource } from '../sources/claimSource.js'
import { readNew } from '../sources/readNew.js'
import { readWhenCalled } from '../sources/readWhenCalled.js'
import { restOnError } from '../sources/restOnError.js'
import { sweepStale } from '../sources/sweepStale.js'
import { sweepThenRead } from '../sources/sweepThenRead.js'
import { waitWhenEmpty } from '../sources/waitWhenEmpty.js'
import { fillSlots } from './fillSlots.js'
import type { LaneBook } from './laneBook.js'
import type { Report } from '../events/laneEvent.js'

/**
 * What {@link workLanes} is made of.
 *
 * @example
 * const slowly: WorkLanesOptions<void>['shape'] = (source) => (slots) => source(slots.slice(0, 1)) // one claim at a time
 */
export interface WorkLanesOptions<Outcome> {
  /** A port of its own, because it waits on it. */
  readonly port: LanePort
  /** Unique in the fleet. */
  readonly workerId: string
  /** Consumer names; as many claims are worked on at once as there are. */
  readonly slots: readonly string[]
  /** The lanes to read. */
  readonly book: LaneBook
  /** Runs one claim and settles it. Must not error: a fault is a value too. */
  readonly work: (claim: Claim) => Observable<Outcome>
  /** Stop asking; what runs goes on to its end. */
  readonly stop$: Observable<unknown>
  /** Told of what happens in the lanes. */
  readonly report: Report
  /** How long one wait for a bell lasts, in milliseconds; at least 1,000. */
  readonly blockMs: number
  /** How often to look for due tasks when none is known to be due sooner, in milliseconds. */
  readonly schedulerIntervalMs: number
  /** The first rest after a fault, in milliseconds; it doubles with each in a row. */
  readonly retryBackoffMs: number
  /** Redis can be used again: what rests after a fault is woken, see {@link RestsOptions}. @default never */
  readonly wake$?: Observable<unknown> | undefined
  /** Where time comes from. @default asyncScheduler */
  readonly scheduler?: SchedulerLike
  /** From 0 up to 1, for what must not happen in step. @default Math.random */
  readonly random?: () => number
  /** Put around each source of new claims, to pause or limit it, say. */
  readonly shape?: (source: ClaimSource) => ClaimSource
}

/**
 * One worker: its slots filled from its lanes, stale claims before new entries, a bell to wake it when they are empty;
 * beside it the tick that promotes due tasks, the watch for new lanes, and the clearing away of consumers that nobody
 * owns any more.
 *
 *     claims   sweepStale ─┐
 *              readNew ────┴─ sweepThenRead ─┐
 *     idle     readWhenCalled ───────────────┴─ waitWhenEmpty ── restOnError ── fillSlots ── work
 *     ahead    readNew ───────────────────────────────────────── restOnError ───┘
 *     beside   promoteWhenDue ── learn new lanes
 *              clear away consumers
 *
 * Emits: what the works emit.  Completes: after `stop$`, when the last work has ended.
 * Errors: never for trouble with Redis.  Unsubscribe: cuts everything; claims on their way are handed back.
 *
 * @example
 * const times = { blockMs: 200, schedulerIntervalMs: 250, retryBackoffMs: 250 }
 * workLanes({ port, workerId: 'w', slots: ['w-slot-0'], book, work, stop$, report, ...times }).subscribe()
 */
export function workLanes<Outcome>(options: WorkLanesOptions<Outcome>): Observable<Outcome> {
  const { port, workerId, slots, book, work, report, scheduler = asyncScheduler, random = Math.random } = options
  return defer(() => {
    const bells$ = new Subject<Bell>()
    let lanesLearned = 0
    let isStopped = false
    // Whatever is subscribed to after the stop must learn of it too.
    const stopped$ = options.stop$.pipe(
      take(1),
      tap(() => {
        isStopped = true
      }),
      shareReplay({ bufferSize: 1, refCount: true }),
    )
    // One asking takes several steps, and the stop may come between them.
    const untilStopped =
      (source: ClaimSource): ClaimSource =>
      (demand) =>
        isStopped ? EMPTY : source(demand)

    const lanes = (): readonly LaneReading[] => book.lanes()
    const working = new WorkingClaims()
    const sweep = sweepStale(port, { workerId, lanes, working, scheduler, report })
    let lanesRead: readonly LaneReading[] = []
    const read = readNew(port, { workerId, lanes: () => (lanesRead = lanes()), report })
    const wait = readWhenCalled(port, {
      workerId,
      lanes,
      waitMs: () => Math.min(Math.max(1_000, options.blockMs), sweep.dueInMs()),
      schedule: () => true,
      onBell: (bell) => {
        bells$.next(bell)
      },
      stop$: stopped$,
      report,
      scheduler,
    })
    // What comes into a lane after it was read rings; lanes that were learned since then have yet to be read.
    const isEarly = (): boolean => sweep.dueInMs() > 0 && lanesRead === lanes()
    const source = sweepThenRead(sweep.source, untilStopped(read), () => sweep.dueInMs() > 0)
    const shape = options.shape ?? ((unshaped: ClaimSource) => unshaped)
    const shaped = untilStopped(shape(source))
    const { wake$, retryBackoffMs: restMs } = options
    const rest = { report, restMs, wake$, stop$: stopped$, scheduler, random }
    // It is open for so long that entries may well come while its connection is dead, and are claimed all the same.
    const waitAndLookBack: ClaimSource = (demand) =>
      wait(demand).pipe(
        tap({
          error: (error: unknown) => {
            if (error instanceof OutcomeUnknownError) sweep.lookBack()
          },
        }),
      )
    const claims = restOnError(waitWhenEmpty(shaped, untilStopped(shape(waitAndLookBack)), isEarly), rest)
    const ahead = restOnError(untilStopped(shape(read)), rest)

    const ticks$ = promoteWhenDue(port, {
      promoterId: workerId,
      intervalMs: options.schedulerIntervalMs,
      poke$: bells$.pipe(filter((bell) => bell === 'schedule')),
      wake$,
      report,
      scheduler,
      random,
    })
    const learning$ = ticks$.pipe(
      filter(({ knownLanes }) => knownLanes !== lanesLearned),
      exhaustMap(({ knownLanes }) =>
        learnLanes(port, workerId, book, report).pipe(
          tap({
            complete: () => {
              lanesLearned = knownLanes
            },
          }),
          reported(report, 'learnLanes'),
        ),
      ),
    )
    const clearing$ = clearAway(port, book, report).pipe(
      repeat({ delay: () => timer(60_000 * (0.5 + random()), scheduler) }),
    )

    return merge(
      fillSlots(claims, work, { slots, ahead, stop$: stopped$, working, scheduler, report }),
      merge(learning$, clearing$).pipe(takeUntil(stopped$), ignoreElements()),
    )
  })
}

/** A worker that waits does not listen to the bells of lanes that it learns of, and has to be woken. */
function learnLanes(port: LanePort, workerId: string, book: LaneBook, report: Report): Observable<never> {
  return port.knownLanes().pipe(
    switchMap((known) => {
      const found = book.learn(known)
      if (found.length === 0) return EMPTY
      report({ kind: 'lanesFound', lanes: found })
      return port.wake(workerId)
    }),
    ignoreElements(),
  )
}

/** Consumers that have been silent for three visibility periods, and a minute at least, belong to nobody any more. */
function clearAway(port: LanePort, book: LaneBook, report: Report): Observable<never> {
  return defer(() => {
    const readings = book.lanes()
    const goneMs = Math.max(60_000, 3 * Math.max(0, ...readings.map(({ visibilityTimeoutMs }) => visibilityTimeoutMs)))
    return port.retire({ slots: [], lanes: readings.map(({ lane }) => lane), goneMs })
  }).pipe(ignoreElements(), reported(report, 'clearAway'))
}

function reported(report: Report, activity: string): MonoTypeOperatorFunction<never> {
  return catchError((error: unknown) => {
    report({ kind: 'brokerError', activity, error, restMs: 0 })
    return EMPTY
  })
}
