import {
  asyncScheduler,
  defer,
  ignoreElements,
  merge,
  NEVER,
  type Observable,
  type SchedulerLike,
  switchMap,
  take,
  timer,
} from 'rxjs'

import { backOffMs } from './backOffMs.js'

/** What is woken rests for so long still, in milliseconds; twice as long with each time in a row that it was in vain. */
const WAKE_MS = 50

/**
 * How long an activity rests after a fault, and what ends a rest early.
 *
 * @example
 * import { NEVER } from 'rxjs'
 * const options: RestsOptions = { restMs: 250, wake$: NEVER }
 */
export interface RestsOptions {
  /** The first rest, in milliseconds; it doubles with each failure in a row. */
  readonly restMs: number
  /** Redis can be used again. @default never: each rest lasts for its time */
  readonly wake$?: Observable<unknown> | undefined
  /** Where the rests come from. @default asyncScheduler */
  readonly scheduler?: SchedulerLike | undefined
  /** From 0 up to 1, so that a fleet does not come back in step. @default Math.random */
  readonly random?: (() => number) | undefined
}

/** The rests of one activity. */
export interface Rests {
  /** After a failure. `rest$` completes when it is over, and emits nothing. */
  readonly next: () => { readonly restMs: number; readonly rest$: Observable<never> }
  /** After a success: the next rest is a first one. */
  readonly forget: () => void
}

/**
 * Rests that grow with the failures in a row, and that end soon after Redis can be used again.
 *
 *     wake      -------x---
 *     rest 250  --------| at 50 after `x`, less a random half
 *
 * However often it is woken, a server that seems well and is not is not asked without a pause: the n-th wake in a row that
 * was in vain is followed within 50 ms, doubled with each, up to the usual rest. So of k failures in a row none comes
 * sooner than half of that after the one before.
 *
 * @example
 * import { fromEvent } from 'rxjs'
 * const { next } = rests({ restMs: 250, wake$: fromEvent(client, 'ready') })
 * next().rest$.subscribe({ complete: () => console.log('try again') })
 */
export const rests = ({ restMs: first, wake$ = NEVER, scheduler = asyncScheduler, random }: RestsOptions): Rests => {
  let failures = 0
  let wakes = 0
  const woken$ = defer(() => wake$).pipe(
    take(1),
    switchMap(() => timer(backOffMs(WAKE_MS, wakes++, random), scheduler)),
  )
  return {
    next: () => {
      const restMs = backOffMs(first, failures++, random)
      return { restMs, rest$: merge(timer(restMs, scheduler), woken$).pipe(take(1), ignoreElements()) }
    },
    forget: () => {
      failures = wakes = 0
    },
  }
}
