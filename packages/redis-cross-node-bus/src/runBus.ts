import type { BusReporter } from '@furystack/cross-node-bus/adapter'
import { leadsElsewhere, locateServer, replyCode, serverCheck } from '@furystack/redis-connection'
import {
  catchError,
  defer,
  filter,
  from,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  retry,
  shareReplay,
  startWith,
  switchMap,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs'
import { BusOptionError } from './busOptionError.js'
import { connectLink } from './connection/connectLink.js'
import type { Link, LinkState } from './connection/link.js'
import { AgeTrims } from './publishing/ageTrims.js'
import type { Outbox } from './publishing/outbox.js'
import { expireOutbox, PUBLISHING, sendOutbox } from './publishing/sendOutbox.js'
import { findPositions } from './reading/findPositions.js'
import { READ_LOOP, readStreams } from './reading/readStreams.js'
import type { Routes } from './reading/routes.js'
import type { ResolvedBusOptions } from './redisCrossNodeBusOptions.js'
import type { StreamBook } from './streams/streamBook.js'

/** What a bus is made of, besides its connections. */
export type BusParts = {
  readonly options: ResolvedBusOptions
  readonly reporter: BusReporter
  readonly outbox: Outbox
  readonly routes: Routes
  readonly book: StreamBook
}

/** The work of a bus. */
export type RunningBus = {
  /**
   * Subscribe: connects, sends what is in the outbox and reads what there are routes for.  Emits: nothing.
   * Completes: never.  Errors: with a {@link BusOptionError}, if the server is none that could ever be used.
   * Unsubscribe: cuts the connections.
   */
  readonly running$: Observable<never>
  /** The connection for everything but reading; the latest state first. Connects if `running$` does not. */
  readonly commands$: Observable<LinkState>
}

/** Entries that are read of a topic at once. */
const READ_COUNT = 200

/** Puts the parts of a bus together. */
export function runBus(parts: BusParts): RunningBus {
  const { options, reporter, outbox, routes } = parts
  const { client, nodeId, scheduler } = options
  const server = locateServer(client, options.topicPrefix)
  const check = serverCheck(client.kind)

  function connect(purpose: 'publish' | 'subscribe'): Observable<LinkState> {
    return connectLink({
      server,
      check,
      name: purpose === 'publish' ? `${options.serviceName}:bus` : `${options.serviceName}:bus-reader`,
      deadlineMs: options.commandDeadlineMs,
      scheduler,
    }).pipe(
      tap((state) => {
        reporter.connection({ originId: nodeId, purpose, state: state.link ? 'ready' : 'lost' })
        if (!state.link) reporter.interrupted(purpose === 'publish' ? PUBLISHING : READ_LOOP, purpose, state.error)
      }),
    )
  }

  const commands$ = connect('publish').pipe(shareReplay({ bufferSize: 1, refCount: true }))

  const positions$ = commands$.pipe(
    switchMap(({ link }) => (link ? findPositions({ ...parts, link, scheduler }) : NEVER)),
  )

  const ageTrims = new AgeTrims(options.retentionMs, scheduler)
  const publishing$ = commands$.pipe(
    startWith<LinkState>({ error: undefined }),
    switchMap(({ link }) => {
      outbox.isOnline = link !== undefined
      if (!link) return expireOutbox(outbox, options.outboxMaxAgeMs, scheduler)
      return sendOutbox({ ...parts, ...options, link, ageTrims })
    }),
  )

  // The commands have found themselves on a replica, or where the slot has been: then so are the reads.
  const isElsewhere$ = commands$.pipe(filter((state) => !state.link && leadsElsewhere(replyCode(state.error))))
  const reading$ = defer(() => (routes.isEmpty ? routes.newcomers$.pipe(take(1)) : of(undefined))).pipe(
    switchMap(() => connect('subscribe')),
    switchMap(({ link }) =>
      link ? merge(read(link, commands$, parts), isElsewhere$.pipe(tap((state) => link.abandon(state)))) : NEVER,
    ),
  )

  const running$ = merge(positions$, publishing$, reading$).pipe(
    // Nothing of the above fails but by a mistake of its own, which must not end the bus without a word.
    retry({
      delay: (error) => {
        if (error instanceof BusOptionError) return throwError(() => error)
        reporter.failed(READ_LOOP, 'subscribe', error)
        return timer(options.commandDeadlineMs, scheduler)
      },
    }),
    ignoreElements(),
  )
  return { running$, commands$ }
}

function read(link: Link, commands$: Observable<LinkState>, parts: BusParts): Observable<never> {
  const { options, reporter, routes, book } = parts
  return defer(() => from(link.send(['CLIENT', 'ID']))).pipe(
    // Whoever may not ask for it gets new topics when the present read has waited for its time.
    catchError(() => of(undefined)),
    switchMap((clientId: unknown) =>
      readStreams({
        link,
        routes,
        book,
        reporter,
        nodeId: options.nodeId,
        blockMs: options.blockTimeoutMs,
        retentionMs: options.retentionMs,
        count: Math.min(READ_COUNT, options.replayWindow),
        scheduler: options.scheduler,
        unblock: () => (typeof clientId === 'number' ? unblock(commands$, clientId) : of(true)),
      }),
    ),
  )
}

/** Without a connection for commands there is nothing new to read either. */
function unblock(commands$: Observable<LinkState>, clientId: number): Observable<boolean> {
  return commands$.pipe(
    take(1),
    switchMap(({ link }) => (link ? from(link.send(['CLIENT', 'UNBLOCK', String(clientId)])) : of(1))),
    map((reply) => Number(reply) === 1),
  )
}
