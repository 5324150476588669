import type { BusMessage, BusMessageHandler, CrossNodeBus, CrossNodeBusCapabilities } from '@furystack/cross-node-bus'
import { BusReporter, serializePayload } from '@furystack/cross-node-bus/adapter'
import {
  catchError,
  EMPTY,
  filter,
  firstValueFrom,
  lastValueFrom,
  map,
  merge,
  type Observable,
  Subject,
  type Subscription,
  takeUntil,
  timer,
} from 'rxjs'
import type { BusOptionError } from './busOptionError.js'
import type { Link, LinkState } from './connection/link.js'
import { Outbox } from './publishing/outbox.js'
import { PublishError } from './publishing/publishError.js'
import { PUBLISHING } from './publishing/sendOutbox.js'
import { Routes } from './reading/routes.js'
import { createSubscriber, type Subscriber } from './reading/subscriber.js'
import { redisCapabilities } from './redisCapabilities.js'
import {
  checkUsable,
  type RedisCrossNodeBusOptions,
  type ResolvedBusOptions,
  resolveBusOptions,
} from './redisCrossNodeBusOptions.js'
import { runBus } from './runBus.js'
import { compareRedisStreamId, normalizeStreamId } from './streams/compareRedisStreamId.js'
import { replayStream } from './streams/replayStream.js'
import { StreamBook } from './streams/streamBook.js'
import { readStreamState } from './streams/streamState.js'
import { type TopicKeys, topicKeys } from './topicKeys.js'

/**
 * A bus over Redis Streams, one stream a topic. Tokens are the ids of stream entries; `"0-0"` is the start token.
 *
 * It opens two connections of its own, one for commands and, with the first subscription, one that waits for messages;
 * both are opened again for ever when they are lost. Reading goes on where it was; if messages were dropped from Redis
 * meanwhile, `onCrossNodeError` tells so with a `ReplayWindowExceededError`.
 *
 * - `publish` rejects with a `PublishError` that tells whether the message may have been accepted.
 * - `subscribe` returns before the subscription is live; `whenReady` tells when it is. What this bus itself publishes
 *   after `subscribe` has returned is received in any case.
 * - `replay` asks the server, so it fails in the first step of the iteration rather than at the call.
 * - `oldestSeq` tells what the bus has seen last of the topic, and has it looked up again for the next time.
 *
 * A topic that it does not take is refused with an `InvalidTopicError`. A server that is none it could ever use (too old, or
 * of another kind than the client is for) is told once, by `onCrossNodeError`; from then on every call is refused with a
 * {@link BusOptionError}.
 *
 * @throws BusOptionError (a TypeError) from the constructor, for a client or prefix that cannot be used, Error for an empty
 * name, RangeError for a number out of its range.
 *
 * @example
 * ```ts
 * await using bus = new RedisCrossNodeBus({ client, serviceName: 'shop', topicPrefix: 'shop/' })
 * bus.subscribe('greetings', ({ seq, payload }) => console.log(seq, payload))
 * await bus.publish('greetings', 'hello')
 * ```
 */
export class RedisCrossNodeBus implements CrossNodeBus {
  readonly nodeId: string
  readonly capabilities: CrossNodeBusCapabilities = redisCapabilities
  readonly #options: ResolvedBusOptions
  readonly #keyOf: TopicKeys
  readonly #reporter: BusReporter
  readonly #outbox: Outbox
  readonly #routes = new Routes()
  readonly #book = new StreamBook()
  readonly #commands$: Observable<LinkState>
  readonly #running: Subscription
  readonly #ended$ = new Subject<void>()
  readonly #lookedUp = new Set<string>()
  /** Why nothing is possible any more, but that the bus was disposed. */
  #unfit: BusOptionError | undefined
  #isDisposed = false
  #end: Promise<void> | undefined

  constructor(options: RedisCrossNodeBusOptions) {
    this.#options = resolveBusOptions(options)
    checkUsable(this.#options.client)
    this.#keyOf = topicKeys(this.#options)
    const { nodeId, outboxLimit: maxMessages, outboxMaxBytes: maxBytes, outboxMaxAgeMs: maxAgeMs } = this.#options
    this.nodeId = nodeId
    this.#reporter = new BusReporter(options.telemetry)
    this.#outbox = new Outbox({ maxMessages, maxBytes, maxAgeMs }, this.#options.scheduler)
    const { running$, commands$ } = runBus({
      options: this.#options,
      reporter: this.#reporter,
      outbox: this.#outbox,
      routes: this.#routes,
      book: this.#book,
    })
    this.#commands$ = commands$
    this.#running = running$.subscribe({ error: (error: unknown) => this.#giveUp(error as BusOptionError) })
  }

  async publish(topic: string, payload: unknown): Promise<void> {
    this.#assertUsable()
    const key = this.#reporter.watch(topic, 'publish', () => this.#keyOf(topic))
    const json = this.#reporter.watch(topic, 'serialize', () => serializePayload(payload))
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error): void => {
        this.#reporter.rejected(topic, 'publish', error)
        reject(error)
      }
      this.#outbox.add({
        topic,
        key,
        json,
        emittedAt: new Date().toISOString(),
        byteLength: Buffer.byteLength(json),
        since: this.#options.scheduler.now(),
        accept: () => {
          this.#reporter.published(topic, this.nodeId, json)
          resolve()
        },
        fail: (reason, cause) => fail(new PublishError(topic, reason, cause === undefined ? undefined : { cause })),
        abort: () => fail(this.#unfit ?? this.#disposedError()),
      })
    })
  }

  subscribe(topic: string, handler: BusMessageHandler): Disposable {
    return this.#register(undefined, { topic, handler, phase: 'subscribe', remoteOnly: false })
  }

  subscribeRemoteOnly(topic: string, handler: BusMessageHandler): Disposable {
    return this.#register(undefined, { topic, handler, phase: 'subscribe', remoteOnly: true })
  }

  subscribeForeign(prefix: string, topic: string, handler: BusMessageHandler): Disposable {
    return this.#register(prefix, { topic, handler, phase: 'subscribeForeign', remoteOnly: false })
  }

  replay(topic: string, fromSeq: string): AsyncIterable<BusMessage> {
    this.#assertUsable()
    return this.#reporter.watch(topic, 'replay', () =>
      this.#replay(topic, this.#keyOf(topic), normalizeStreamId(fromSeq)),
    )
  }

  compareSeq(a: string, b: string): number {
    this.#assertUsable()
    return compareRedisStreamId(a, b)
  }

  oldestSeq(topic: string): string | undefined {
    this.#assertUsable()
    const key = this.#keyOf(topic)
    void this.#lookUp(key)
    return this.#book.oldest(key)
  }

  /**
   * Resolves when the present subscriptions to `topic` are live: when the bus knows after which message each of them
   * begins. While Redis is away that takes until it is back.
   *
   * @throws Error (as a rejection) if nobody is subscribed to the topic, or the bus is disposed meanwhile.
   */
  async whenReady(topic: string, prefix?: string): Promise<void> {
    this.#assertUsable()
    const route = this.#routes.get(this.#keyOf(topic, prefix))
    if (route === undefined) throw new Error(`Nobody is subscribed to "${topic}" on the bus "${this.nodeId}"`)
    await Promise.all([...route.subscribers].map(({ ready }) => ready))
    this.#assertUsable()
  }

  /**
   * Ends all subscriptions at once, lets what was published go out, and closes the connections. Does not wait for Redis if
   * it is away, and for `commandDeadlineMs` at most if it does not answer; what was not sent by then rejects.
   */
  [Symbol.asyncDispose](): Promise<void> {
    this.#end ??= this.#endGently()
    return this.#end
  }

  /** Ends all subscriptions and cuts the connections. What was not sent yet rejects. */
  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#routes.clear()
    this.#outbox.close()
    this.#ended$.next()
    this.#running.unsubscribe()
  }

  /** The server is none that the bus could ever use. Told once; from now on every call is refused with it. */
  #giveUp(error: BusOptionError): void {
    this.#unfit = error
    this.#reporter.failed(PUBLISHING, 'publish', error)
    this.#routes.clear()
    this.#outbox.close()
    this.#ended$.next()
  }

  async #endGently(): Promise<void> {
    if (this.#isDisposed) return
    if (this.#unfit) return this[Symbol.dispose]()
    this.#isDisposed = true
    this.#routes.clear()
    const isAway$ = this.#commands$.pipe(
      filter(({ link }) => !link),
      // A server that cannot be used, which whoever publishes is told; the end waits for the other two then.
      catchError(() => EMPTY),
    )
    const { commandDeadlineMs, scheduler } = this.#options
    const isLate$ = timer(commandDeadlineMs, scheduler)
    await lastValueFrom(this.#outbox.emptied$.pipe(takeUntil(merge(isAway$, isLate$, this.#ended$))), {
      defaultValue: undefined,
    })
    this[Symbol.dispose]()
  }

  #register(
    prefix: string | undefined,
    fields: Pick<Subscriber, 'topic' | 'handler' | 'phase' | 'remoteOnly'>,
  ): Disposable {
    this.#assertUsable()
    const key = this.#reporter.watch(fields.topic, fields.phase, () => this.#keyOf(fields.topic, prefix))
    return this.#routes.add(key, createSubscriber(fields), this.#options.scheduler.now())
  }

  async *#replay(topic: string, key: string, fromSeq: string): AsyncGenerator<BusMessage, void, undefined> {
    try {
      yield* replayStream({
        topic,
        key,
        fromSeq,
        link: () => this.#link(),
        book: this.#book,
        reporter: this.#reporter,
        retentionMs: this.#options.retentionMs,
        patienceMs: this.#options.commandDeadlineMs,
        scheduler: this.#options.scheduler,
      })
    } catch (error) {
      this.#reporter.rejected(topic, 'replay', error)
      throw error
    }
  }

  /** Once at a time for each stream. What it cannot find out it leaves to the next call. */
  async #lookUp(key: string): Promise<void> {
    if (this.#lookedUp.has(key)) return
    this.#lookedUp.add(key)
    try {
      this.#book.look(key, await readStreamState(await this.#link(), key))
    } catch {
      // See above; that the connection is lost is reported elsewhere.
    } finally {
      this.#lookedUp.delete(key)
    }
  }

  /** The connection for commands, as soon as there is one. */
  async #link(): Promise<Link> {
    this.#assertUsable()
    const { commandDeadlineMs, scheduler } = this.#options
    const link$ = this.#commands$.pipe(
      map(({ link }) => link),
      filter((link) => link !== undefined),
      takeUntil(merge(this.#ended$, timer(commandDeadlineMs, scheduler))),
    )
    const link = await firstValueFrom(link$, { defaultValue: undefined })
    this.#assertUsable()
    if (link === undefined) throw new Error(`No connection to Redis within ${commandDeadlineMs} ms`)
    return link
  }

  #assertUsable(): void {
    if (this.#isDisposed) throw this.#disposedError()
    if (this.#unfit) throw this.#unfit
  }

  #disposedError(): Error {
    return new Error(`The bus "${this.nodeId}" is disposed`)
  }
}
