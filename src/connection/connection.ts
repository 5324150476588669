import { asyncScheduler, type SchedulerLike, type Subscription } from 'rxjs'

import { AdapterDisposedError } from '../errors/adapterDisposedError.js'
import { RedisRefusedError } from '../errors/redisRefusedError.js'
import { RedisUnavailableError } from '../errors/redisUnavailableError.js'
import { duplicateClient } from './duplicateClient.js'
import type { RedisClient } from './redisClient.js'
import { typedError } from './typedError.js'

/** What happened to a connection, told once an incident. */
export type ConnectionNotice = { kind: 'lost'; error: unknown } | { kind: 'ready' }

/** How a {@link Connection} behaves. Times are milliseconds. */
export interface ConnectionOptions {
  /** The caller's client, duplicated and otherwise left alone. */
  template: RedisClient
  /** What `CLIENT LIST` calls it; characters that Redis does not take in a name become `-`. */
  name?: string
  /**
   * How long a command may wait for a connection, and how long a written one may go without any reply arriving before
   * the connection counts as dead and is replaced.
   */
  deadlineMs: number
  /** Whether it blocks on the server: then disposal does not wait for what is under way. @default false */
  isBlocking?: boolean
  scheduler?: SchedulerLike
  onNotice?: (notice: ConnectionNotice) => void
}

/**
 * One connection of the library's own: it reconnects for ever, hides no queue while Redis is away, and holds each
 * command to a deadline with one timer for all of them.
 */
export interface Connection extends AsyncDisposable {
  readonly isReady: boolean
  /**
   * Sends a command; those of one turn of the event loop share one write.
   *
   * @param graceMs how much longer than usual the reply may take, for commands that block
   * @throws {RedisUnavailableError} no connection within the deadline; nothing was sent
   * @throws {OutcomeUnknownError} the connection was lost, or replaced by the watchdog, after the write
   * @throws {RedisRefusedError} the server answered with an error
   * @throws {AdapterDisposedError} after disposal
   */
  send(operation: string, args: readonly string[], graceMs?: number): Promise<unknown>
  /** Drops the socket, so that whatever is blocked on it ends at once; a new one is opened. */
  replace(): void
}

/**
 * Opens a duplicate of the template client, in the background.
 *
 * The client's own per-command timer is switched off: it costs more than the command, and covers only the time until
 * the command is written, so a half-open socket would never be noticed by it.
 *
 * @example
 * await using connection = openConnection({ template: client, deadlineMs: 5000 })
 * await connection.send('ping', ['PING']) // 'PONG'
 */
export const openConnection = (options: ConnectionOptions): Connection => new DuplicatedConnection(options)

/** A class because every command goes through it: its state is fields, not closures a command. */
class DuplicatedConnection implements Connection {
  private client: RedisClient
  private isDisposed = false
  private isDown = false
  private outstanding = 0
  private lastSign = 0
  private suspected = -1
  private graceMs = 0
  private ready: PromiseWithReject | undefined
  private readonly watchdog: Subscription
  private readonly scheduler: SchedulerLike

  constructor(private readonly options: ConnectionOptions) {
    this.scheduler = options.scheduler ?? asyncScheduler
    this.client = this.open()
    this.watchdog = this.watch()
  }

  get isReady(): boolean {
    return this.client.isReady
  }

  async send(operation: string, args: readonly string[], graceMs = 0): Promise<unknown> {
    if (this.isDisposed) throw new AdapterDisposedError(operation)
    if (!this.client.isReady) await this.untilReady(operation)
    if (this.outstanding++ === 0) {
      this.lastSign = this.scheduler.now()
      this.graceMs = graceMs
    } else if (graceMs > this.graceMs) this.graceMs = graceMs
    const { client } = this
    try {
      const reply = await client.sendCommand(args)
      this.lastSign = this.scheduler.now()
      return reply
    } catch (error) {
      throw this.typed(operation, error, client)
    } finally {
      this.outstanding--
    }
  }

  replace(): void {
    if (this.isDisposed) return
    const old = this.client
    this.client = this.open()
    this.drop(old)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isDisposed) return
    this.isDisposed = true
    this.ready?.reject(new AdapterDisposedError('connect'))
    this.watchdog.unsubscribe()
    if (this.client.isReady && this.outstanding > 0 && !this.options.isBlocking) await this.finishOutstanding()
    this.drop(this.client)
  }

  private open(): RedisClient {
    const client = duplicateClient(this.options.template, this.options.name)
    client.on('error', (error: unknown) => {
      if (client === this.client) this.noticeDown(error)
    })
    client.on('ready', () => {
      // A client that was dropped while it was connecting comes up all the same.
      if (client === this.client && !this.isDisposed) this.noticeReady()
      else this.drop(client)
    })
    // A first connect that fails for good (a wrong password, say) rejects here and nowhere else.
    client.connect().catch((error: unknown) => {
      if (client === this.client) this.noticeDown(error)
    })
    return client
  }

  private noticeDown(error: unknown): void {
    if (this.isDown || this.isDisposed) return
    this.isDown = true
    this.options.onNotice?.({ kind: 'lost', error })
  }

  private noticeReady(): void {
    this.ready?.resolve()
    this.ready = undefined
    if (!this.isDown) return
    this.isDown = false
    this.options.onNotice?.({ kind: 'ready' })
  }

  /** One promise for all that wait; each has its own deadline, because each came at its own time. */
  private untilReady(operation: string): Promise<void> {
    this.ready ??= promiseWithReject()
    const { promise } = this.ready
    return new Promise((resolve, reject) => {
      const timer = this.scheduler.schedule(() => {
        reject(new RedisUnavailableError(operation, this.options.deadlineMs))
      }, this.options.deadlineMs)
      promise
        .then(resolve, reject)
        .finally(() => {
          timer.unsubscribe()
        })
        .catch(() => undefined) // told to the caller by the line before last
    })
  }

  /**
   * Replies come in order, so "no reply at all for the deadline while some are due" is one test for every command, and
   * one timer serves the connection for life.
   */
  private watch(): Subscription {
    const { deadlineMs } = this.options
    const check = (): void => {
      const allowedMs = deadlineMs + this.graceMs
      if (this.outstanding === 0 || this.scheduler.now() - this.lastSign < allowedMs) return
      // If it was the event loop that stood still, replies wait to be read: they show before the next look.
      const isFirstSuspicion = this.suspected !== this.lastSign
      this.suspected = this.lastSign
      if (isFirstSuspicion) return
      this.noticeDown(new Error(`no reply for ${String(allowedMs)} ms`))
      this.lastSign = this.scheduler.now()
      this.replace()
    }
    return this.scheduler.schedule(function () {
      check()
      this.schedule(undefined, deadlineMs / 4)
    }, deadlineMs / 4)
  }

  private async finishOutstanding(): Promise<void> {
    let timer: Subscription | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = this.scheduler.schedule(() => {
        resolve()
      }, this.options.deadlineMs)
    })
    await Promise.race([this.client.close().catch(() => undefined), timeout])
    timer?.unsubscribe()
  }

  private drop(client: RedisClient): void {
    try {
      client.destroy()
    } catch {
      // A client that is closed already says so by throwing, which is what was wanted.
    }
  }

  private typed(operation: string, error: unknown, client: RedisClient): Error {
    const typed = typedError(operation, error)
    // After a fail-over the socket may well still lead to the old primary, which is a replica now. The first of the
    // commands that it refuses replaces it.
    if (typed instanceof RedisRefusedError && typed.reply === 'READONLY' && client === this.client) this.replace()
    return typed
  }
}

interface PromiseWithReject {
  promise: Promise<void>
  resolve: () => void
  reject: (error: Error) => void
}

const promiseWithReject = (): PromiseWithReject => {
  let settle: Pick<PromiseWithReject, 'resolve' | 'reject'> | undefined
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject }
  })
  promise.catch(() => undefined) // whoever waits has a handler of their own
  return { promise, ...(settle as unknown as Pick<PromiseWithReject, 'resolve' | 'reject'>) }
}
