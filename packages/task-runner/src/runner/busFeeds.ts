import type { BusMessage, CrossNodeBus } from '@furystack/cross-node-bus'

import { UnknownTaskError } from '../errors/unknownTaskError.js'
import type { TaskUpdate } from '../task/taskUpdate.js'
import type { ReportError } from '../telemetry/createErrorReporter.js'
import type { Clock } from '../time/clock.js'
import type { Sender } from './sender.js'
import { topicsOf } from './topicsOf.js'

/** After these pauses (milliseconds) a task whose type could not be found is looked for again. */
const LOOK_AGAIN_AFTER = [250, 1_000, 4_000, 15_000, 60_000]

interface Feed {
  users: number
  readonly subscriptions: Disposable[]
}

/** Listens to the bus for those types that somebody is interested in, once a type however many they are. */
export class BusFeeds implements Disposable {
  readonly #feeds = new Map<string, Feed>()
  #disposed = false

  constructor(
    private readonly bus: CrossNodeBus,
    private readonly sender: Sender,
    private readonly report: ReportError,
    private readonly clock: Clock,
    private readonly deliver: (type: string, update: TaskUpdate, via: unknown) => void,
  ) {}

  /** Listens to a type until the answer is disposed, and everybody else's is. */
  open(type: string): Disposable {
    const feed = this.#feeds.get(type) ?? this.#start(type)
    feed.users++
    let isOpen = true
    return {
      [Symbol.dispose]: () => {
        if (!isOpen) return
        isOpen = false
        if (--feed.users > 0) return
        this.#feeds.delete(type)
        for (const subscription of feed.subscriptions) subscription[Symbol.dispose]()
      },
    }
  }

  /** The same for the type of a task, as soon as it is known. */
  openWhenKnown(taskId: string, findType: () => Promise<string | undefined>): Disposable {
    let state: 'looking' | 'closed' | Disposable = 'looking'
    let cancel: (() => void) | undefined
    const look = async (tries: number): Promise<void> => {
      let trouble: unknown
      try {
        const type = await findType()
        if (state !== 'looking' || this.#disposed) return
        if (type !== undefined) return void (state = this.open(type))
        trouble = new UnknownTaskError(taskId)
      } catch (error) {
        trouble = error
      }
      const delayMs = LOOK_AGAIN_AFTER[tries]
      if (state !== 'looking' || this.#disposed) return
      if (delayMs === undefined) return this.report('subscribe', trouble)
      cancel = this.clock.setTimer(() => void look(tries + 1), delayMs, { isBackground: true })
    }
    void look(0)
    return {
      [Symbol.dispose]: () => {
        cancel?.()
        if (typeof state === 'object') state[Symbol.dispose]()
        state = 'closed'
      },
    }
  }

  public [Symbol.dispose](): void {
    this.#disposed = true
    for (const { subscriptions } of this.#feeds.values()) {
      for (const subscription of subscriptions) subscription[Symbol.dispose]()
    }
    this.#feeds.clear()
  }

  #start(type: string): Feed {
    const { status, progress } = topicsOf(type)
    const subscriptions = [status, progress].map((topic) =>
      this.bus.subscribe(topic, (message) => this.#receive(type, message)),
    )
    const feed = { users: 0, subscriptions }
    this.#feeds.set(type, feed)
    return feed
  }

  #receive(type: string, { payload }: BusMessage): void {
    if (typeof payload !== 'object' || payload === null || !('kind' in payload) || !('taskId' in payload)) return
    // Whoever speaks on these topics sends updates; the mark of the sender is not for subscribers.
    const { via, ...update } = payload as TaskUpdate & { via?: unknown }
    if (via !== this.sender.mark && this.sender.isOfSameQueue(via)) this.deliver(type, update, via)
  }
}
