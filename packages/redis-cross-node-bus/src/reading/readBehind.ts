import { ReplayWindowExceededError } from '@furystack/cross-node-bus'
import { catchError, defer, EMPTY, from, ignoreElements, type Observable, tap } from 'rxjs'
import { compareRedisStreamId } from '../streams/compareRedisStreamId.js'
import { isReaderUpToDate, START_ID } from '../streams/completeness.js'
import { type Page, readPage } from '../streams/page.js'
import type { StreamState } from '../streams/streamState.js'
import { reportToAll } from './deliver.js'
import type { ReadContext } from './readContext.js'
import type { Route } from './route.js'

/** A stream that Redis refuses to read is tried again after so many milliseconds. */
const REST_MS = 1_000

/**
 * Reads the next entries of a stream of which some may be gone, and tells its subscribers if that is so.
 *
 * Subscribe: sends one script.  Emits: nothing.  Completes: with the reply.  Errors: never; a stream that cannot be read
 * is reported and rests.
 */
export function readBehind(route: Route, context: ReadContext): Observable<never> {
  return defer(() => {
    const { cursor, key } = route
    if (cursor === undefined) return EMPTY
    const readAt = context.scheduler.now()
    return from(readPage(context.link, key, cursor, context.count)).pipe(
      tap((page) => {
        route.trouble = undefined
        if (context.routes.get(key) === route && route.cursor === cursor) take(route, cursor, page, readAt, context)
      }),
      catchError((error: unknown) => {
        refuse(route, error, context)
        return EMPTY
      }),
      ignoreElements(),
    )
  })
}

function take(route: Route, cursor: string, page: Page, readAt: number, context: ReadContext): void {
  const { state, entries } = page
  const { book, retentionMs, reporter } = context
  const oldest = book.oldest(route.key)
  book.look(route.key, state)
  const awayMs = readAt - route.readAt
  route.readAt = readAt
  if (!isReaderUpToDate(state, cursor, { retentionMs, awayMs })) {
    reportToAll(route.subscribers, reporter, (topic) => new ReplayWindowExceededError(topic, cursor, state.firstId))
  }
  if (cursor !== START_ID && compareRedisStreamId(cursor, state.lastId) > 0) {
    route.goBackTo(hasLostItsEnd(state, oldest) ? state.lastId : START_ID)
  } else {
    route.push(entries, cursor)
    route.isBehind = entries.length >= context.count
  }
}

/**
 * Of a stream that ends before what was read of it: whether it is the same one without its last entries, as after a
 * fail-over to a replica that had not got them yet, rather than one that began anew and is new as a whole.
 *
 * @param oldest its first entry when it was last looked at
 */
function hasLostItsEnd({ firstId }: StreamState, oldest: string | undefined): boolean {
  return firstId !== undefined && oldest !== undefined && compareRedisStreamId(firstId, oldest) >= 0
}

function refuse(route: Route, error: unknown, { reporter, scheduler }: ReadContext): void {
  route.restsUntil = scheduler.now() + REST_MS
  const trouble = String(error)
  if (trouble !== route.trouble) reportToAll(route.subscribers, reporter, () => error)
  route.trouble = trouble
}
