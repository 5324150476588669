import {
  catchError,
  concat,
  connect,
  defer,
  EMPTY,
  exhaustMap,
  from,
  ignoreElements,
  merge,
  type Observable,
  repeat,
  takeUntil,
  takeWhile,
  tap,
  timer,
} from 'rxjs'
import { decodeEntries, type Entry } from '../streams/entry.js'
import type { ReadContext } from './readContext.js'
import type { Route } from './route.js'

/** How often (milliseconds) to ask for the end of a blocking read that may not have reached the server yet. */
const UNBLOCK_AGAIN_MS = 5

/**
 * Reads what is new in streams with one command, and if `mayBlock` waits for it. The wait ends at once if something else
 * is to be read.
 *
 * Subscribe: sends one XREAD.  Emits: nothing.  Completes: with the reply.  Errors: as the link does.
 * Unsubscribe: the reply is ignored; its entries will be read again.
 */
export function readLive(routes: readonly Route[], mayBlock: boolean, context: ReadContext): Observable<never> {
  return defer(() => {
    const { link, blockMs, count, scheduler } = context
    const readAt = scheduler.now()
    const asked = new Map(routes.map((route) => [route.key, { route, cursor: route.cursor ?? '$' }]))
    const cursors = [...asked.values()].map(({ cursor }) => cursor)
    const block = mayBlock ? ['BLOCK', String(blockMs)] : []
    const command = ['XREAD', 'COUNT', String(count), ...block, 'STREAMS', ...asked.keys(), ...cursors]
    return from(link.send(command, mayBlock ? blockMs : 0)).pipe(
      tap((reply) => {
        for (const route of routes) route.readAt = readAt
        for (const [key, entries] of streamsOf(reply)) {
          const { route, cursor } = asked.get(key) ?? {}
          if (route && cursor && context.routes.get(key) === route) take(route, entries, cursor, context)
        }
      }),
      connect((reply$) =>
        merge(
          reply$,
          mayBlock
            ? context.routes.changes$.pipe(
                exhaustMap(() => wake(context)),
                takeUntil(reply$),
              )
            : EMPTY,
        ),
      ),
      ignoreElements(),
    )
  })
}

function take(route: Route, entries: readonly Entry[], cursor: string, { book, count }: ReadContext): void {
  // As many as were asked for: there may be so much more that what comes next is, or before these was, dropped.
  if (entries.length >= count) {
    route.isBehind = true
    return
  }
  route.push(entries, cursor)
  const [first] = entries
  if (first) book.add(route.key, first.id)
}

/** Asks until it has worked. If it cannot, the read ends by itself after its time. */
function wake(context: ReadContext): Observable<boolean> {
  return concat(
    defer(() => context.unblock()),
    timer(UNBLOCK_AGAIN_MS, context.scheduler).pipe(ignoreElements()),
  ).pipe(
    repeat(),
    takeWhile((wasBlocked) => !wasBlocked),
    // See above; that a connection is lost is told by the connection.
    catchError(() => EMPTY),
  )
}

/** RESP2 gives pairs, RESP3 a map, which arrives as key after value. */
function* streamsOf(reply: unknown): Generator<readonly [string, readonly Entry[]], void, undefined> {
  if (!Array.isArray(reply)) return
  const flat = Array.isArray(reply[0]) ? (reply as unknown[][]).flat() : (reply as unknown[])
  for (let index = 0; index < flat.length; index += 2) {
    const key = flat[index]
    if (typeof key === 'string') yield [key, decodeEntries(flat[index + 1])]
  }
}
