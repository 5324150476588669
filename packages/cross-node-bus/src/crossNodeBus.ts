import { defineService, type Token } from '@furystack/inject'
import type { BusMessage } from './busMessage.js'
import type { BusMessageHandler } from './busMessageHandler.js'
import type { CrossNodeBusCapabilities } from './crossNodeBusCapabilities.js'
import { defineInProcessCrossNodeBus } from './defineInProcessCrossNodeBus.js'

/**
 * Publish and subscribe between the processes of an application. Topics are free text of whole characters; whatever takes
 * a topic refuses another one with an `InvalidTopicError`, before anything is sent.
 *
 * - Messages one bus publishes on a topic arrive in the order of the `publish` calls, and every subscriber of the topic
 *   sees the same order.
 * - A live subscription gets each message at most once. Whoever must not miss any combines `replay` with `subscribe`
 *   and drops what it has seen by `compareSeq`.
 * - A failing handler harms neither its siblings nor the bus; telemetry learns of the failure.
 * - After disposal `publish` and `whenReady` reject and the other methods throw an `Error` that says "disposed".
 *
 * @example
 * ```ts
 * const bus = injector.get(CrossNodeBus)
 * using subscription = bus.subscribe('greetings', ({ payload }) => console.log(payload))
 * await bus.publish('greetings', { hello: 'world' })
 * ```
 */
export interface CrossNodeBus extends Disposable {
  /** Names this bus among all nodes, and stays the same for its life. */
  readonly nodeId: string

  /** What this bus can do. */
  readonly capabilities: CrossNodeBusCapabilities

  /**
   * Sends `payload` to everybody on `topic`, this bus included. Resolves when the transport has accepted the message,
   * which says nothing about its arrival. Rejects if the payload cannot be turned into JSON, the transport refuses or
   * the bus is disposed.
   */
  publish(topic: string, payload: unknown): Promise<void>

  /**
   * Calls `handler` for everything published on `topic` from now on, by whomever. Disposing the handle is idempotent
   * and takes effect at once.
   */
  subscribe(topic: string, handler: BusMessageHandler): Disposable

  /** Like {@link subscribe} without the messages this bus published itself. */
  subscribeRemoteOnly(topic: string, handler: BusMessageHandler): Disposable

  /**
   * Like {@link subscribe}, but listens to `topic` under another bus's topic prefix in place of the own. A bus that
   * cannot do so throws.
   */
  subscribeForeign(prefix: string, topic: string, handler: BusMessageHandler): Disposable

  /**
   * The retained messages of `topic` that come strictly after `fromSeq`, oldest first.
   *
   * @throws UnsupportedCapabilityError at the call, if the bus lacks the capability `replay`.
   * @throws ReplayWindowExceededError if messages after `fromSeq` are gone: at the call where the bus knows at once,
   * otherwise from the first step of the iteration.
   */
  replay(topic: string, fromSeq: string): AsyncIterable<BusMessage>

  /**
   * Negative if `a` comes before `b`, positive if after, zero if they are the same position. Both must stem from the
   * same topic of the same kind of bus.
   *
   * @throws RangeError for something that is no token of this kind of bus.
   */
  compareSeq(a: string, b: string): number

  /** Token of the oldest retained message of `topic`, `undefined` if nothing is retained. */
  oldestSeq(topic: string): string | undefined

  /**
   * Resolves when the present subscriptions to `topic` are live, so that they get whatever is published next. `prefix`
   * stands for the own one as in {@link subscribeForeign}. A bus whose subscriptions are live from the start may lack
   * this.
   */
  whenReady?(topic: string, prefix?: string): Promise<void>

  /** Gentle teardown that lets work in flight finish. Where it is missing, `Symbol.dispose` does. */
  [Symbol.asyncDispose]?(): Promise<void>
}

/**
 * The bus of the application. Works without configuration as a bus within this process; bind the factory of a networked
 * one to reach others.
 *
 * @example
 * ```ts
 * injector.bind(CrossNodeBus, defineInProcessCrossNodeBus({ nodeId: 'worker-1' }))
 * const bus = injector.get(CrossNodeBus)
 * ```
 */
export const CrossNodeBus: Token<CrossNodeBus, 'singleton'> = defineService({
  name: 'furystack/cross-node-bus/CrossNodeBus',
  lifetime: 'singleton',
  factory: defineInProcessCrossNodeBus(),
})
