import type { BusMessage } from './busMessage.js'
import type { CrossNodeBusErrorPhase } from './crossNodeBusErrorPhase.js'
import type { CrossNodeBusTelemetry } from './crossNodeBusTelemetry.js'
import type { PayloadSnapshot } from './payloadSnapshot.js'
import type { PublishHooks } from './publishHooks.js'

const NO_HOOKS: PublishHooks = {}

/** Tells telemetry what a bus does, at no cost where nobody listens. */
export class BusReporter {
  readonly #telemetry: CrossNodeBusTelemetry | undefined

  constructor(telemetry: CrossNodeBusTelemetry | undefined) {
    this.#telemetry = telemetry
  }

  /** What a publication tells; nothing where nobody listens. */
  hooksOf(topic: string, originId: string, payload: PayloadSnapshot): PublishHooks {
    const telemetry = this.#telemetry
    if (!telemetry?.hasListeners('onCrossNodePublished')) return NO_HOOKS
    return {
      onAccepted: () =>
        telemetry.emit('onCrossNodePublished', { topic, originId, byteLength: Buffer.byteLength(payload.json) }),
    }
  }

  received(topic: string, { originId, emittedAt }: BusMessage): void {
    if (!this.#telemetry?.hasListeners('onCrossNodeReceived')) return
    this.#telemetry.emit('onCrossNodeReceived', { topic, originId, lagMs: Date.now() - Date.parse(emittedAt) })
  }

  evicted(topic: string, evictedSeq: string, retainedCount: number): void {
    this.#telemetry?.emit('onCrossNodeWindowEvicted', { topic, evictedSeq, retainedCount })
  }

  /** For an error that reaches nobody else; goes to the console if nobody listens. */
  failed(topic: string, phase: CrossNodeBusErrorPhase, error: unknown): void {
    if (this.#telemetry?.hasListeners('onCrossNodeError')) {
      this.#telemetry.emit('onCrossNodeError', { topic, error, phase })
    } else {
      console.error(`A handler of the bus topic "${topic}" failed`, error)
    }
  }

  /** Runs a step whose error the caller gets; telemetry hears of it too. */
  watch<T>(topic: string, phase: CrossNodeBusErrorPhase, step: () => T): T {
    try {
      return step()
    } catch (error) {
      this.#telemetry?.emit('onCrossNodeError', { topic, error, phase })
      throw error
    }
  }
}
