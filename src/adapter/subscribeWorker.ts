import type { WorkerSubscription } from '@furystack/task-runner'
import {
  AsyncSubject,
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  type Observable,
  retry,
  timer,
} from 'rxjs'

import type { Connection } from '../connection/connection.js'
import { type LaneBook, laneBook } from '../lane/laneBook.js'
import type { Report } from '../events/laneEvent.js'
import { workLanes } from '../lane/workLanes.js'
import type { LanePort } from '../port/lanePort.js'
import type { ClaimSource } from '../sources/claimSource.js'
import type { ResolvedQueueOptions } from './redisQueueOptions.js'
import { runClaim } from './runClaim.js'

/** What {@link subscribeWorker} connects. */
export interface SubscribeWorkerOptions {
  readonly subscription: WorkerSubscription
  readonly port: LanePort
  readonly reader: Connection
  readonly options: ResolvedQueueOptions
  /** Redis can be used again after trouble. */
  readonly usable$: Observable<unknown>
  readonly report: Report
}

/** A running worker. Disposing it stops the asking; the open claims run to their end and are settled. */
export interface SubscribedWorker extends Disposable, AsyncDisposable {
  /** Resolves when the last claim is settled and the connection for reading is closed. */
  readonly ended: Promise<void>
  /** Stops and waits until it has ended. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * The one place where a worker is subscribed to: makes its observable of a core's subscription and lets it run until it is
 * stopped.
 */
export const subscribeWorker = (setup: SubscribeWorkerOptions): SubscribedWorker => {
  const { subscription, port, reader, options, usable$, report } = setup
  const { workerId, concurrency } = subscription
  const slots = Array.from({ length: concurrency }, (_, index) => `${workerId}-slot-${String(index)}`)
  const book = laneBook({
    types: subscription.types,
    compatibleVersions: subscription.compatibleVersions,
    // Cores of an earlier revision have no tags.
    tags: subscription.tags ?? [],
    visibilityTimeoutMs: visibilityOf(subscription, options),
    cap: (type) => own(options.concurrencyLimits, type),
    maxDeliveries: (type) => own(subscription.maxDeliveries ?? {}, type) ?? options.maxDeliveries,
  })

  const stop$ = new AsyncSubject<void>()
  let isStopping = false
  const stop = (): void => {
    isStopping = true
    stop$.next()
    stop$.complete()
  }
  const untilDrained =
    (source: ClaimSource): ClaimSource =>
    (demand) => {
      if (!subscription.shouldDrain()) return source(demand)
      stop()
      return EMPTY
    }

  const work = runClaim({
    port,
    onClaim: (claim) => subscription.onClaim(claim),
    isStopping: () => isStopping || subscription.shouldDrain(),
    retryBackoffMs: options.retryBackoffMs,
    deadlineMs: options.commandDeadlineMs,
    wake$: usable$,
    report,
    ...(options.scheduler && { scheduler: options.scheduler }),
  })
  const worker$ = workLanes({
    port,
    workerId,
    slots,
    book,
    work,
    stop$,
    report,
    blockMs: options.blockTimeoutMs,
    schedulerIntervalMs: options.schedulerIntervalMs,
    retryBackoffMs: options.retryBackoffMs,
    wake$: usable$,
    shape: untilDrained,
    ...(options.scheduler && { scheduler: options.scheduler }),
  }).pipe(
    // Trouble with Redis never comes this far; a bug would otherwise leave a worker that looks well and does nothing.
    retry({
      delay: (error: unknown) => {
        report({ kind: 'brokerError', activity: 'worker', error, restMs: 1_000 })
        return timer(1_000, options.scheduler)
      },
    }),
    ignoreElements(),
  )
  const ended = new Promise<void>((resolve, reject) => {
    concat(worker$, retire({ port, workerId, slots, book, report }))
      .pipe(
        finalize(() => {
          reader[Symbol.asyncDispose]().then(resolve, reject)
        }),
      )
      .subscribe({ error: reject })
  })
  return {
    ended,
    [Symbol.dispose]: stop,
    [Symbol.asyncDispose]: () => {
      stop()
      return ended
    },
  }
}

/** The operator's word for a type wins over the handler's, and that over the adapter's own default. */
const visibilityOf =
  ({ visibilityTimeoutMs }: WorkerSubscription, options: ResolvedQueueOptions) =>
  (type: string): number =>
    own(options.visibilityTimeoutByType, type) ?? own(visibilityTimeoutMs ?? {}, type) ?? options.visibilityTimeoutMs

/** Types may be called `constructor` or `__proto__`. */
const own = (record: Readonly<Record<string, number>>, type: string): number | undefined =>
  Object.hasOwn(record, type) ? record[type] : undefined

function retire(options: {
  port: LanePort
  workerId: string
  slots: readonly string[]
  book: LaneBook
  report: Report
}): Observable<void> {
  const { port, workerId, slots, book, report } = options
  return defer(() => port.retire({ workerId, slots, lanes: book.lanes().map(({ lane }) => lane), goneMs: 0 })).pipe(
    catchError((error: unknown) => {
      report({ kind: 'brokerError', activity: 'retire', error, restMs: 0 })
      return EMPTY
    }),
  )
}
