import { reconnectDelayMs } from '@furystack/redis-connection'
import {
  catchError,
  concat,
  defer,
  EMPTY,
  from,
  ignoreElements,
  merge,
  mergeMap,
  type Observable,
  race,
  repeat,
  take,
  tap,
  timer,
} from 'rxjs'
import { endOfTurn$ } from '../connection/endOfTurn.js'
import { deliverSlice } from './deliver.js'
import { readBehind } from './readBehind.js'
import type { ReadContext } from './readContext.js'
import { readLive } from './readLive.js'
import type { Route } from './route.js'
import { sortRoutes } from './sortRoutes.js'

/** So many streams are caught up with at once. */
const CATCH_UP = 16
/** Streams that rest are looked at this often (milliseconds) if there is nothing else to do. */
const LOOK_AGAIN_MS = 500

/** The topic under which trouble that concerns all topics is reported. */
export const READ_LOOP = '<read-loop>'

/**
 * Reads all streams on one connection and delivers what it reads, in turns: read, then deliver for a short while. While
 * entries wait for their delivery the reads do not block, and leave out the streams that those entries are from; so a
 * slow handler delays its own topic, and memory stays bounded.
 *
 * Subscribe: begins to read after the position of each route, minding that entries may be gone.  Emits: nothing.
 * Completes, errors: never; what goes wrong is reported, once, and tried again.  Unsubscribe: stops at once.
 */
export function readStreams(context: ReadContext): Observable<never> {
  const { routes, retentionMs, scheduler } = context
  return defer(() => {
    const failures = { inARow: 0 }
    let lastTurnAt = -Infinity
    // What another server refused, this one need not.
    for (const route of routes) route.restsUntil = 0

    function turn(): Observable<unknown> {
      const now = scheduler.now()
      // After a long stop, of this process or of its event loop, entries may be gone without a connection being lost.
      if (now - lastTurnAt > retentionMs / 2) for (const route of routes) route.isBehind = true
      lastTurnAt = now
      const { behind, upToDate, hasBacklog, hasResting } = sortRoutes(routes, now)

      const reads: Array<Observable<unknown>> = []
      if (behind.length > 0) reads.push(from(behind.slice(0, CATCH_UP)).pipe(mergeMap(readOne, CATCH_UP)))
      if (upToDate.length > 0) reads.push(readAll(upToDate, behind.length === 0 && !hasBacklog, failures, context))
      if (reads.length === 0) reads.push(hasBacklog ? endOfTurn$ : nextChange(hasResting))
      return concat(merge(...reads), defer(deliver))
    }

    function readOne(route: Route): Observable<never> {
      return readBehind(route, context)
    }

    function nextChange(hasResting: boolean): Observable<unknown> {
      const change$ = routes.changes$.pipe(take(1))
      return hasResting ? race(change$, timer(LOOK_AGAIN_MS, scheduler)) : change$
    }

    function deliver(): Observable<never> {
      deliverSlice(routes, context, () => scheduler.now())
      return EMPTY
    }

    return defer(turn).pipe(repeat(), ignoreElements())
  })
}

/**
 * Reads streams with one command. If Redis refuses, that is reported once, and the next reads go to one stream each for a
 * while: so it shows which of them it is, and the others get on.
 */
function readAll(
  routes: readonly Route[],
  mayBlock: boolean,
  failures: { inARow: number },
  context: ReadContext,
): Observable<unknown> {
  return readLive(routes, mayBlock, context).pipe(
    tap({
      complete: () => {
        failures.inARow = 0
      },
    }),
    catchError((error: unknown) => {
      if (failures.inARow === 0) context.reporter.interrupted(READ_LOOP, 'subscribe', error)
      for (const route of routes) route.isBehind = true
      return timer(reconnectDelayMs(failures.inARow++), context.scheduler)
    }),
  )
}
