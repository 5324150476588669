import type { BusMessage } from './busMessage.js'
import type { CrossNodeBusErrorPhase } from './crossNodeBusErrorPhase.js'
import type { CrossNodeBusTelemetry } from './crossNodeBusTelemetry.js'
import type { CrossNodeBusTelemetryEvents } from './crossNodeBusTelemetryEvents.js'
import type { PublishHooks } from './publishHooks.js'
import type { RetainedMessage } from './retainedMessage.js'

const NO_HOOKS: PublishHooks = {}

/**
 * Tells telemetry what a bus does, at no cost where nobody listens. For authors of adapters; never throws of itself.
 *
 * @example
 * ```ts
 * const reporter = new BusReporter(new CrossNodeBusTelemetry())
 * const json = reporter.watch('orders', 'serialize', () => serializePayload({ id: 7 }))
 * ```
 */
export class BusReporter {
  readonly #telemetry: CrossNodeBusTelemetry | undefined
  readonly #lost = new Set<string>()
  /** Whether the present outage was told on the console. */
  #isOutageTold = false

  constructor(telemetry: CrossNodeBusTelemetry | undefined) {
    this.#telemetry = telemetry
  }

  /** What a publication tells; nothing where nobody listens. */
  hooksOf(topic: string, message: RetainedMessage): PublishHooks {
    const telemetry = this.#telemetry
    if (!telemetry?.hasListeners('onCrossNodePublished')) return NO_HOOKS
    return {
      onAccepted: () =>
        telemetry.emit('onCrossNodePublished', {
          topic,
          originId: message.originId,
          byteLength: Buffer.byteLength(message.json),
        }),
    }
  }

  /** The transport has accepted a message whose payload is `json`. */
  published(topic: string, originId: string, json: string): void {
    if (this.#lost.size === 0) this.#isOutageTold = false
    if (!this.#telemetry?.hasListeners('onCrossNodePublished')) return
    this.#telemetry.emit('onCrossNodePublished', { topic, originId, byteLength: Buffer.byteLength(json) })
  }

  /** A message has arrived that somebody here waits for. */
  received(topic: string, { originId, emittedAt }: BusMessage): void {
    if (!this.#telemetry?.hasListeners('onCrossNodeReceived')) return
    this.#telemetry.emit('onCrossNodeReceived', { topic, originId, lagMs: Date.now() - Date.parse(emittedAt) })
  }

  /** Whether anybody would hear of {@link evicted}. */
  get hearsEvictions(): boolean {
    return this.#telemetry?.hasListeners('onCrossNodeWindowEvicted') === true
  }

  /** A message has left the replay window. */
  evicted(topic: string, evictedSeq: string, retainedCount: number): void {
    this.#telemetry?.emit('onCrossNodeWindowEvicted', { topic, evictedSeq, retainedCount })
  }

  /** A connection was lost, or is there. */
  connection(event: CrossNodeBusTelemetryEvents['onCrossNodeConnection']): void {
    if (event.state === 'lost') this.#lost.add(event.purpose)
    else if (this.#lost.delete(event.purpose) && this.#lost.size === 0) this.#isOutageTold = false
    this.#telemetry?.emit('onCrossNodeConnection', event)
  }

  /**
   * The transport cannot be reached, or refuses for a while. Where nobody listens that is one line of the console, until
   * all connections are back or a message was accepted: no stack, for it would be the same each time.
   */
  interrupted(topic: string, phase: CrossNodeBusErrorPhase, error: unknown): void {
    if (this.#telemetry?.hasListeners('onCrossNodeError')) return this.rejected(topic, phase, error)
    if (this.#isOutageTold) return
    this.#isOutageTold = true
    console.error(`The bus cannot ${phase}, which is told once until it can again: ${inOneLine(error)}`)
  }

  /** An error that reaches nobody else; goes to the console if nobody listens. */
  failed(topic: string, phase: CrossNodeBusErrorPhase, error: unknown): void {
    if (this.#telemetry?.hasListeners('onCrossNodeError')) this.rejected(topic, phase, error)
    else console.error(`${phase} of the bus topic "${topic}" failed`, error)
  }

  /** An error that its caller gets too. */
  rejected(topic: string, phase: CrossNodeBusErrorPhase, error: unknown): void {
    this.#telemetry?.emit('onCrossNodeError', { topic, error, phase })
  }

  /** Runs a step whose error the caller gets; telemetry hears of it too. */
  watch<T>(topic: string, phase: CrossNodeBusErrorPhase, step: () => T): T {
    try {
      return step()
    } catch (error) {
      this.rejected(topic, phase, error)
      throw error
    }
  }
}

/** What a server says may be long, and of several lines. */
const inOneLine = (error: unknown): string =>
  String(error)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, 500)
