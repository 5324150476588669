import type { BusReporter } from '@furystack/cross-node-bus/adapter'
import { reconnectDelayMs } from '@furystack/redis-connection'
import {
  defer,
  EMPTY,
  from,
  ignoreElements,
  merge,
  mergeMap,
  type Observable,
  retry,
  type SchedulerLike,
  tap,
  timer,
} from 'rxjs'
import type { Link } from '../connection/link.js'
import { readStreamState } from '../streams/streamState.js'
import type { StreamBook } from '../streams/streamBook.js'
import type { Newcomer, Routes } from './routes.js'

/** What it takes to find positions. */
export type PositionContext = {
  readonly link: Link
  readonly routes: Routes
  readonly book: StreamBook
  readonly reporter: BusReporter
  readonly scheduler: SchedulerLike
}

/** More newcomers than that wait their turn. */
const AT_ONCE = 1_000

/**
 * Asks for each newcomer how far its stream is, so that it gets what comes after that. Asked when it comes, so what this
 * bus publishes later on the same connection is later in the stream too.
 *
 * Subscribe: sends one script for each who waits.  Emits: nothing.  Completes, errors: never; if Redis refuses, that is
 * reported once and asked again.
 */
export function findPositions(context: PositionContext): Observable<never> {
  const { routes } = context
  return defer(() => merge(from(routes.newcomers()), routes.newcomers$)).pipe(
    mergeMap((newcomer) => findPosition(newcomer, context), AT_ONCE),
    ignoreElements(),
  )
}

function findPosition(
  newcomer: Newcomer,
  { link, routes, book, reporter, scheduler }: PositionContext,
): Observable<unknown> {
  const { key } = newcomer.route
  return defer(() => from(readStreamState(link, key))).pipe(
    tap((state) => {
      book.look(key, state)
      routes.begin(newcomer, state.lastId)
    }),
    retry({
      delay: (error, count) => {
        const { topic, phase } = newcomer.subscriber
        if (!newcomer.route.subscribers.has(newcomer.subscriber)) return EMPTY
        if (count === 1) reporter.interrupted(topic, phase, error)
        return timer(reconnectDelayMs(count), scheduler)
      },
    }),
  )
}
