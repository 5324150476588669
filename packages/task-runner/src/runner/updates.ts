import type { CrossNodeBus } from '@furystack/cross-node-bus'

import type { TaskStatus, TerminalStatus } from '../task/taskStatus.js'
import type { RemovedTask, TaskUpdate } from '../task/taskUpdate.js'
import { isoTime } from '../time/isoTime.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'
import type { Clock } from '../time/clock.js'
import { BusFeeds } from './busFeeds.js'
import { Sender } from './sender.js'
import { SubscriberMap, type UpdateHandler } from './subscriberMap.js'
import { topicsOf } from './topicsOf.js'

/**
 * Where updates of tasks go out and come in. Those of this runner reach its subscribers at once and then the bus; those
 * of other runners come from the bus, which is only listened to for types that somebody is interested in.
 */
export class Updates implements Disposable {
  readonly #sender: Sender
  readonly #byTask: SubscriberMap
  readonly #byType: SubscriberMap
  readonly #feeds: BusFeeds
  /** What the bus answered last. */
  #heard: Promise<void> | undefined

  constructor(
    private readonly bus: CrossNodeBus,
    private readonly report: ReportError,
    clock: Clock,
    scope = '',
  ) {
    this.#sender = new Sender(scope)
    this.#byTask = new SubscriberMap(report)
    this.#byType = new SubscriberMap(report)
    this.#feeds = new BusFeeds(bus, this.#sender, report, clock, (type, update, via) =>
      this.#deliver(type, update, via),
    )
  }

  /** Tells that a task has a status since `at` (epoch milliseconds). */
  status(type: string, taskId: string, status: TaskStatus, at: number, reason?: string, removed?: RemovedTask): void {
    const via = this.#sender.mark
    const time = isoTime(at)
    if (this.#hasListeners) {
      const update: TaskUpdate = { kind: 'status', taskId, status, at: time }
      if (reason !== undefined) update.reason = reason
      if (removed !== undefined) update.removed = removed
      this.#deliver(type, update)
    }
    const { status: topic } = topicsOf(type)
    if (reason === undefined && removed === undefined)
      this.#send(topic, { kind: 'status', taskId, status, at: time, via })
    else this.#send(topic, { kind: 'status', taskId, status, at: time, reason, removed, via })
  }

  /** Tells how far a task is. */
  progress(type: string, taskId: string, percent: number, meta: unknown, at: number): void {
    const via = this.#sender.mark
    const time = isoTime(at)
    if (this.#hasListeners) {
      const update: TaskUpdate = { kind: 'progress', taskId, percent, at: time }
      this.#deliver(type, meta === undefined ? update : { ...update, meta })
    }
    this.#send(topicsOf(type).progress, { kind: 'progress', taskId, percent, meta, at: time, via })
  }

  /** Tells a parent's subscribers of a child that was spawned. */
  spawnedChild(type: string, taskId: string, childTaskId: string, at: number): void {
    this.#tell(type, { kind: 'spawned-child', taskId, childTaskId, at: isoTime(at) })
  }

  /** Tells a parent's subscribers of a child that has ended. */
  childCompleted(type: string, taskId: string, childTaskId: string, status: TerminalStatus, at: number): void {
    this.#tell(type, { kind: 'child-completed', taskId, childTaskId, status, at: isoTime(at) })
  }

  /** Asks whoever runs one of these tasks to stop. */
  requestCancel(type: string, taskIds: readonly string[], reason: string | undefined): void {
    this.#send(topicsOf(type).cancel, { taskIds, reason, via: this.#sender.mark })
  }

  /** Calls back for each request to cancel tasks of a type, from whatever runner. */
  onCancelRequest(type: string, handler: (taskIds: readonly unknown[], reason?: string) => void): Disposable {
    return this.bus.subscribe(topicsOf(type).cancel, ({ payload }) => {
      const { taskIds, reason, via } = (payload ?? {}) as { taskIds?: unknown; reason?: unknown; via?: unknown }
      if (Array.isArray(taskIds) && this.#sender.isOfSameQueue(via))
        handler(taskIds, typeof reason === 'string' ? reason : undefined)
    })
  }

  /** The bus is listened to by type; one that is not known is asked for in the background. */
  subscribe(taskId: string, handler: UpdateHandler, type: string | (() => Promise<string | undefined>)): Disposable {
    const local = this.#byTask.add(taskId, handler)
    const remote = typeof type === 'string' ? this.#feeds.open(type) : this.#feeds.openWhenKnown(taskId, type)
    return {
      [Symbol.dispose]: () => {
        local[Symbol.dispose]()
        remote[Symbol.dispose]()
      },
    }
  }

  /** Resolves when what is published about a type from now on reaches those who have subscribed. */
  async whenReady(type: string): Promise<void> {
    await this.bus.whenReady?.(topicsOf(type).status)
  }

  subscribeByType(type: string, handler: UpdateHandler): Disposable {
    const local = this.#byType.add(type, handler)
    const remote = this.#feeds.open(type)
    return {
      [Symbol.dispose]: () => {
        local[Symbol.dispose]()
        remote[Symbol.dispose]()
      },
    }
  }

  /** Drops all subscribers. What still goes out goes to the bus only. */
  public [Symbol.dispose](): void {
    this.#byTask.clear()
    this.#byType.clear()
    this.#feeds[Symbol.dispose]()
  }

  get #hasListeners(): boolean {
    return this.#byTask.size > 0 || this.#byType.size > 0
  }

  #tell(type: string, update: TaskUpdate): void {
    if (this.#hasListeners) this.#deliver(type, update)
    this.#send(topicsOf(type).status, { ...update, via: this.#sender.mark })
  }

  #deliver(type: string, update: TaskUpdate, via: unknown = this.#sender.mark): void {
    this.#byTask.deliver(update.taskId, update, via)
    this.#byType.deliver(type, update, via)
  }

  #send(topic: string, payload: unknown): void {
    try {
      const sent = this.bus.publish(topic, payload)
      // A bus may answer with one promise for all that goes well; to listen to it once is enough.
      if (sent === this.#heard) return
      this.#heard = sent
      sent.catch(this.#publishFailed)
    } catch (error) {
      this.#publishFailed(error)
    }
  }

  readonly #publishFailed = (error: unknown): void => this.report('publish', error)
}
