/**
 * The second way: build a lane of your own from the library's parts. This one sends notifications, two at a time, can be
 * paused, and writes a summary line for each batch of ten on the side.
 *
 *     npx tsx examples/02-compose-a-lane.ts        (with a Redis at REDIS_URL, or at localhost:6379)
 */
import {
  type Claim,
  fillSlots,
  lane,
  openLanePort,
  pausable,
  readNew,
  readWhenCalled,
  restOnError,
  sweepStale,
  sweepThenRead,
  waitWhenEmpty,
} from '@furystack/redis-task-runner'
import { createClient } from 'redis'
import {
  AsyncSubject,
  BehaviorSubject,
  bufferCount,
  concat,
  concatMap,
  delay,
  forkJoin,
  lastValueFrom,
  map,
  type Observable,
  of,
  tap,
} from 'rxjs'

const client = createClient({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' })
client.on('error', (error) => console.error(`Redis: ${String(error)}`))
await client.connect()
const port = openLanePort({ client, topicPrefix: 'example-02/' })

// A lane is one stream, for one type and version.
const notifications = lane('notify', 1)
await lastValueFrom(
  forkJoin(Array.from({ length: 20 }, (_, n) => port.enqueue({ taskId: `n${n}`, lane: notifications }))),
  { defaultValue: undefined },
)

// Where claims come from. A source is a function from free slots to claims, so sources compose by being passed on:
// stale claims before new entries; when there is neither, wait for the bell and read; when Redis is away, rest.
const workerId = `example-${process.pid}`
const lanes = () => [{ lane: notifications, visibilityTimeoutMs: 30_000 }]
const sweep = sweepStale(port, { workerId, lanes })
const stop$ = new AsyncSubject<void>()
const isPaused$ = new BehaviorSubject(false)
const claims = restOnError(
  pausable(
    waitWhenEmpty(
      sweepThenRead(sweep.source, readNew(port, { workerId, lanes })),
      readWhenCalled(port, { workerId, lanes, waitMs: () => Math.min(1_000, sweep.dueInMs()), stop$ }),
    ),
    isPaused$,
  ),
  { restMs: 250, report: (event) => console.error(event) },
)

// What to do with one claim: an observable that ends when the claim is settled. It must not error.
const work = (claim: Claim): Observable<string> =>
  of(claim).pipe(
    delay(10), // as if it were sent
    concatMap(() => port.settle(claim, { kind: 'done' })),
    map(() => claim.taskId),
  )

// The free slots are the demand: never more than two claims are open, and none waits for a slot.
const slots = [`${workerId}-slot-0`, `${workerId}-slot-1`]
let sent = 0
const summaries$ = fillSlots(claims, work, { slots, stop$ }).pipe(
  tap(() => {
    if (++sent < 20) return
    stop$.next()
    stop$.complete() // drain: ask for nothing more, finish what runs
  }),
  bufferCount(10),
)

await lastValueFrom(
  concat(
    summaries$.pipe(tap((batch) => console.log(`sent ${batch.length}, the last was ${batch.at(-1)}`))),
    port.retire({ workerId, slots, lanes: [notifications], goneMs: 0 }),
  ),
  { defaultValue: undefined },
)
await port[Symbol.asyncDispose]()
await client.close()
