import { UnknownTaskError } from '../errors/unknownTaskError.js'
import type { Task } from '../task/task.js'
import { isTerminalStatus } from '../task/taskStatus.js'
import type { TaskUpdate } from '../task/taskUpdate.js'
import type { Clock } from '../time/clock.js'
import { withinMs } from '../time/withinMs.js'
import { snapshotOf, type StatusUpdate } from './snapshotOf.js'
import type { UpdateHandler } from './subscriberMap.js'
import { TaskNews } from './taskNews.js'

const FIRST_POLL_MS = 250
const MAX_POLL_MS = 5_000
/** How long an update may be on its way before the row tells in its place. */
const GRACE_MS = 100
/** The same for the last update of a task whose row was removed with its end, and which nothing else tells of. */
const GONE_GRACE_MS = 1_000
/** Longer than that a subscription is not waited for; the bus may be away. */
const READY_MS = 1_000
/** In place of a row that was there before. */
const GONE = 'gone'

/** Where a watch gets to know of its task. */
export interface TaskWatchSource {
  readonly clock: Clock
  read(taskId: string): Promise<Task | undefined>
  subscribe(task: Task, handler: UpdateHandler): Disposable
  /** Resolves when the subscription is live. */
  whenReady(task: Task): Promise<void>
  /** Takes what went wrong with a poll; there will be another. */
  onPollError(error: unknown): void
}

/** Whom a watch tells. After an end or an error nothing follows. */
export interface TaskWatcher {
  onUpdate(update: TaskUpdate): void
  onEnd(): void
  onError(error: unknown): void
}

/**
 * Watches one task until it has ended: subscribes, then looks at the row, so that nothing falls between the two. From
 * time to time it looks again, because a bus may lose an update, or not reach the process that the update came from.
 */
export class TaskWatch implements Disposable {
  readonly #news = new TaskNews()
  #early: Array<Parameters<UpdateHandler>> | undefined = []
  #subscription: Disposable | undefined
  #cancelPoll: (() => void) | undefined
  #pollMs = FIRST_POLL_MS
  /** The row that the last poll found ahead of the updates. */
  #suspect: string | undefined
  #isOpen = true

  constructor(
    private readonly taskId: string,
    private readonly source: TaskWatchSource,
    private readonly watcher: TaskWatcher,
  ) {
    this.#start().catch((error: unknown) => this.fail(error))
  }

  fail(error: unknown): void {
    if (!this.#isOpen) return
    this[Symbol.dispose]()
    this.watcher.onError(error)
  }

  public [Symbol.dispose](): void {
    this.#isOpen = false
    this.#cancelPoll?.()
    this.#subscription?.[Symbol.dispose]()
  }

  async #start(): Promise<void> {
    // The bus is listened to by type, so the row comes first; then it is read again, as it may have moved on meanwhile.
    const before = await this.source.read(this.taskId)
    if (before === undefined) throw new UnknownTaskError(this.taskId)
    let task: Task | undefined = before
    if (this.#isOpen && !isTerminalStatus(before.status)) {
      this.#subscription = this.source.subscribe(before, (update, via) => this.#receive(update, via))
      await withinMs(this.source.clock, this.#ready(before), READY_MS)
      if (this.#isOpen) task = await this.source.read(this.taskId)
    }
    if (!this.#isOpen) return
    this.#show(task ?? before)
    const early = this.#early ?? []
    this.#early = undefined
    for (const [update, via] of early) this.#receive(update, via)
    if (task !== undefined) return this.#arm(this.#pollMs)
    this.#suspect = GONE
    this.#arm(GONE_GRACE_MS)
  }

  async #ready(task: Task): Promise<void> {
    try {
      await this.source.whenReady(task)
    } catch (error) {
      if (this.#isOpen) this.source.onPollError(error)
    }
  }

  #show(task: Task): void {
    const snapshot = snapshotOf(task)
    this.#news.show(snapshot)
    this.#tell(snapshot)
  }

  #suspicionOf(snapshot: StatusUpdate): string | undefined {
    return this.#news.isBehind(snapshot) ? `${snapshot.status} ${snapshot.at}` : undefined
  }

  #receive(update: TaskUpdate, via: unknown): void {
    if (!this.#isOpen) return
    if (this.#early !== undefined) this.#early.push([update, via])
    else if (this.#news.take(update, via)) this.#tell(update)
  }

  #tell(update: TaskUpdate): void {
    const isLast = update.kind === 'status' && isTerminalStatus(update.status)
    if (isLast) this[Symbol.dispose]()
    this.watcher.onUpdate(update)
    if (isLast) this.watcher.onEnd()
  }

  #arm(delayMs: number): void {
    if (this.#isOpen)
      this.#cancelPoll = this.source.clock.setTimer(() => void this.#poll(), delayMs, {
        keepAlive: true,
        isBackground: true,
      })
  }

  async #poll(): Promise<void> {
    try {
      const task = await this.source.read(this.taskId)
      if (!this.#isOpen) return
      const suspect = task === undefined ? GONE : this.#suspicionOf(snapshotOf(task))
      if (suspect !== undefined && suspect !== this.#suspect) {
        this.#suspect = suspect
        return this.#arm(task === undefined ? GONE_GRACE_MS : GRACE_MS)
      }
      this.#suspect = undefined
      if (task === undefined) return this.fail(new UnknownTaskError(this.taskId))
      if (suspect !== undefined) this.#show(task)
    } catch (error) {
      if (this.#isOpen) this.source.onPollError(error)
    }
    this.#pollMs = Math.min(MAX_POLL_MS, this.#pollMs * 2)
    this.#arm(this.#pollMs)
  }
}
