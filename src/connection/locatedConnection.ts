import {
  destroyClient,
  duplicateClient,
  lastAnswers,
  leadsElsewhere,
  reconnectDelayMs,
  type RedisClient,
} from '@furystack/redis-connection'
import { AsyncSubject, asyncScheduler, lastValueFrom, type SchedulerLike, Subscription, takeUntil, timer } from 'rxjs'

import { AdapterDisposedError } from '../errors/adapterDisposedError.js'
import { InvalidOptionError } from '../errors/invalidOptionError.js'
import type { LaneError } from '../errors/laneError.js'
import { RedisRefusedError } from '../errors/redisRefusedError.js'
import { RedisUnavailableError } from '../errors/redisUnavailableError.js'
import type { Connection, ConnectionOptions } from './connection.js'
import { type PromiseWithReject, promiseWithReject } from './promiseWithReject.js'
import { typedError } from './typedError.js'

/** Longer than any connect and sign-in should take; what does is given up, and tried again. */
const OPEN_LIMIT_MS = 10_000
/** A server that was taken over from is dead, most likely, and has this long to say otherwise. */
const GONE_MS = 500

/** A socket's life, from the search for the server to its end. */
interface Link {
  readonly abort: AbortController
  template?: RedisClient
  client?: RedisClient
}

/**
 * The connection of `openConnection`. A class because every command goes through it: its state is fields, not closures a
 * command.
 */
export class LocatedConnection implements Connection {
  private link: Link | undefined
  /** The client of the link, once it may be used. */
  private client: RedisClient | undefined
  private isDisposed = false
  private isDown = false
  /** Whether the last commands that ended had no answer, or were refused for what passes. */
  private isTroubled = false
  private unfit: InvalidOptionError | undefined
  private failures = 0
  /** How often in a row a server was left that refused commands, without any that answered. */
  private leaves = 0
  private outstanding = 0
  private lastSign = 0
  private suspected = -1
  private graceMs = 0
  private ready: PromiseWithReject | undefined
  private opening: Subscription | undefined
  private readonly scheduler: SchedulerLike
  private readonly timers = new Subscription()
  /** Links that are no longer used, and are still answered what they were asked before. */
  private readonly left = new Set<Link>()
  private readonly disposed$ = new AsyncSubject<void>()

  constructor(private readonly options: ConnectionOptions) {
    this.scheduler = options.scheduler ?? asyncScheduler
    this.open()
    this.timers.add(this.watch())
    this.timers.add(
      options.server.onReached(() => {
        this.hasten()
      }),
    )
    this.timers.add(
      options.server.onMoved(() => {
        this.follow()
      }),
    )
  }

  get isReady(): boolean {
    return this.client?.isReady === true
  }

  get isAwaiting(): boolean {
    return this.outstanding > 0
  }

  async send(operation: string, args: readonly string[], graceMs = 0, until?: number, attempt = 0): Promise<unknown> {
    if (this.isDisposed) throw new AdapterDisposedError(operation)
    if (!this.client?.isReady) await this.untilReady(operation)
    const { client } = this
    if (client === undefined) throw new RedisUnavailableError(operation, 0)
    if (this.outstanding++ === 0) {
      this.lastSign = this.scheduler.now()
      this.graceMs = graceMs
    } else if (graceMs > this.graceMs) this.graceMs = graceMs
    let refusal: RedisRefusedError
    try {
      const reply = await client.sendCommand(args)
      this.lastSign = this.scheduler.now()
      if (this.isTroubled) this.noticeAnswered()
      return reply
    } catch (error) {
      const typed = this.typed(operation, error, client)
      if (!isElsewhere(typed)) throw typed
      refusal = typed
    } finally {
      this.outstanding--
    }
    const restMs = reconnectDelayMs(attempt)
    const deadline = until ?? this.scheduler.now() + this.options.deadlineMs
    if (this.scheduler.now() + restMs > deadline) throw refusal
    const rest$ = timer(restMs, this.scheduler).pipe(takeUntil(this.disposed$))
    await lastValueFrom(rest$, { defaultValue: 0 })
    return this.send(operation, args, graceMs, deadline, attempt + 1)
  }

  replace(): void {
    if (this.isDisposed || this.unfit) return
    const old = this.link
    this.open()
    if (old) this.drop(old)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isDisposed) return
    this.isDisposed = true
    this.ready?.reject(new AdapterDisposedError('connect'))
    this.disposed$.next()
    this.disposed$.complete()
    const { client } = this
    if (client?.isReady && this.outstanding > 0 && !this.options.isBlocking)
      await this.within(this.options.deadlineMs, client.close()).catch(() => undefined) // it is dropped in any case
    this.timers.unsubscribe()
    for (const link of this.left) this.drop(link)
    if (this.link) this.drop(this.link)
  }

  /** Another server has taken over: what has failed on the way to the former one does not count any more. */
  private follow(): void {
    this.failures = this.leaves = 0
    if (this.client && !this.options.isBlocking) this.leave(this.client, GONE_MS)
    else this.replace()
  }

  /** Another connection has got through: the pause before the next attempt of this one is over. */
  private hasten(): void {
    if (this.isDown && this.opening && !this.opening.closed) this.open()
  }

  private replaceIfCurrent(client: RedisClient): void {
    if (client !== this.client) return
    if (this.link?.template) this.options.server.doubt(this.link.template)
    this.replace()
  }

  /**
   * Opens a link to another server, while this one answers what it was asked before: at once, if it is not the next of
   * those that refuse.
   */
  private leave(client: RedisClient, limitMs: number): void {
    const { link } = this
    if (client !== this.client || !link || this.isDisposed) return
    if (link.template) this.options.server.doubt(link.template)
    if (this.leaves++ === 0) this.open()
    else {
      this.link = this.client = undefined
      this.opening = this.after(reconnectDelayMs(Math.min(this.leaves - 2, 2)), () => {
        this.open()
      })
    }
    this.left.add(link)
    const leaving = lastAnswers(client, { limitMs, scheduler: this.scheduler }).subscribe()
    this.timers.add(leaving)
    leaving.add(() => {
      this.timers.remove(leaving)
      this.left.delete(link)
      this.drop(link)
    })
  }

  /** Opens a link in place of the one there was. */
  private open(): void {
    this.opening?.unsubscribe()
    const link: Link = { abort: new AbortController() }
    this.link = link
    this.client = undefined
    this.within(OPEN_LIMIT_MS, this.connect(link)).then(
      (client) => {
        if (link !== this.link || this.isDisposed) return
        this.client = client
        this.noticeReady()
        this.options.server.reached()
      },
      (error: unknown) => {
        this.lose(link, error)
      },
    )
  }

  private async connect(link: Link): Promise<RedisClient> {
    const { server, name, check } = this.options
    link.template = await server.template()
    link.abort.signal.throwIfAborted()
    const client = (link.client = duplicateClient(link.template, { name, signal: link.abort.signal }))
    client.on('error', (error: unknown) => {
      this.lose(link, error)
    })
    await client.connect()
    await check?.(client)
    return client
  }

  private lose(link: Link, error: unknown): void {
    if (link !== this.link || this.isDisposed) return
    this.link = undefined
    this.client = undefined
    this.drop(link)
    if (error instanceof InvalidOptionError) {
      this.unfit = error
      this.ready?.reject(error)
      this.options.onNotice?.({ kind: 'unfit', error })
      return
    }
    this.noticeDown(error)
    if (link.template) this.options.server.doubt(link.template)
    this.opening = this.after(reconnectDelayMs(this.failures++), () => {
      this.open()
    })
  }

  private noticeDown(error: unknown): void {
    if (this.isDown || this.isDisposed) return
    this.isDown = true
    this.options.onNotice?.({ kind: 'lost', error })
  }

  private noticeReady(): void {
    this.failures = 0
    this.ready?.resolve()
    this.ready = undefined
    if (!this.isDown) return
    this.isDown = false
    this.options.onNotice?.({ kind: 'ready' })
  }

  private noticeAnswered(): void {
    this.isTroubled = false
    this.leaves = 0
    this.options.onNotice?.({ kind: 'answered' })
  }

  /** One promise for all that wait; each has its own deadline, because each came at its own time. */
  private untilReady(operation: string): Promise<void> {
    if (this.unfit) return Promise.reject(this.unfit)
    this.ready ??= promiseWithReject()
    return this.within(
      this.options.deadlineMs,
      this.ready.promise,
      () => new RedisUnavailableError(operation, this.options.deadlineMs),
    )
  }

  private within<T>(ms: number, promise: Promise<T>, late: () => Error = () => lateAfter(ms)): Promise<T> {
    return new Promise((resolve, reject) => {
      const limit = this.after(ms, () => {
        reject(late())
      })
      promise
        .then(resolve, reject)
        .finally(() => {
          limit.unsubscribe()
        })
        .catch(() => undefined) // told to the caller by the line before last
    })
  }

  /** Of the timers none is left after disposal. */
  private after(ms: number, then: () => void): Subscription {
    const scheduled = this.scheduler.schedule(then, ms)
    this.timers.add(scheduled)
    scheduled.add(() => {
      this.timers.remove(scheduled)
    })
    return scheduled
  }

  /**
   * Replies come in order, so "no reply at all for the deadline while some are due" is one test for every command, and
   * one timer serves the connection for life.
   */
  private watch(): Subscription {
    const { deadlineMs } = this.options
    const check = (): void => {
      const allowedMs = deadlineMs + this.graceMs
      const { client } = this
      if (client === undefined || this.outstanding === 0 || this.scheduler.now() - this.lastSign < allowedMs) return
      // If it was the event loop that stood still, replies wait to be read: they show before the next look.
      const isFirstSuspicion = this.suspected !== this.lastSign
      this.suspected = this.lastSign
      if (isFirstSuspicion) return
      this.noticeDown(new Error(`no reply for ${String(allowedMs)} ms`))
      this.lastSign = this.scheduler.now()
      this.replaceIfCurrent(client)
    }
    return this.scheduler.schedule(function () {
      check()
      this.schedule(undefined, deadlineMs / 4)
    }, deadlineMs / 4)
  }

  private drop({ client, abort }: Link): void {
    if (client) destroyClient(client)
    abort.abort()
  }

  private typed(operation: string, error: unknown, client: RedisClient): LaneError {
    const typed = typedError(operation, error)
    if (!(typed instanceof RedisRefusedError) || typed.isTransient) this.isTroubled = true
    // After a fail-over the socket may well still lead to the old primary, which is a replica now, or to a node that has
    // the slot no longer. The first of the commands that it refuses replaces it.
    if (typed instanceof RedisRefusedError && leadsElsewhere(typed.reply)) {
      if (this.options.isBlocking) this.replaceIfCurrent(client)
      else this.leave(client, this.options.deadlineMs) // it refuses, so it lives, and may have much to refuse
    }
    return typed
  }
}

/**
 * A cluster refused the command before anything of it was done. While a slot moves, no node has all of its keys, so there
 * is none that could be asked instead (`ASK`): the command has to wait.
 */
const isElsewhere = (error: LaneError): error is RedisRefusedError =>
  error instanceof RedisRefusedError && /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN)$/.test(error.reply)

const lateAfter = (ms: number): Error => new Error(`took longer than ${String(ms)} ms`)
