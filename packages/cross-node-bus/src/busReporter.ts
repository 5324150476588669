import type { BusMessage } from './busMessage.js'
import type { CrossNodeBusErrorPhase } from './crossNodeBusErrorPhase.js'
import type { CrossNodeBusTelemetry } from './crossNodeBusTelemetry.js'

/** Tells telemetry what a bus does, at no cost where nobody listens. */
export class BusReporter {
  readonly #telemetry: CrossNodeBusTelemetry | undefined

  constructor(telemetry: CrossNodeBusTelemetry | undefined) {
    this.#telemetry = telemetry
  }

  published(topic: string, originId: string, json: string): void {
    if (!this.#telemetry?.hasListeners('onCrossNodePublished')) return
    this.#telemetry.emit('onCrossNodePublished', { topic, originId, byteLength: Buffer.byteLength(json) })
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
