import type { CrossNodeBusTelemetry } from './crossNodeBusTelemetry.js'
import type { MemoryBroker } from './memoryBroker.js'

/**
 * Options of `InProcessCrossNodeBus`.
 *
 * @example
 * ```ts
 * const options: InProcessCrossNodeBusOptions = { nodeId: 'worker-1', topicPrefix: 'shop/', replayWindow: 100 }
 * ```
 */
export type InProcessCrossNodeBusOptions = {
  /**
   * Connects this bus with others on the same broker, which stays the caller's to dispose. Default: a private one that
   * ends with the bus.
   */
  readonly broker?: MemoryBroker | undefined
  /** Default: `local-` and a random UUID. */
  readonly nodeId?: string | undefined
  /** Put in front of every topic, to keep the topics of applications on one broker apart. Default: nothing. */
  readonly topicPrefix?: string | undefined
  /**
   * How many messages per topic the private broker retains for `replay`: a positive integer, by default that of
   * `MemoryBroker`. Ignored if `broker` is given.
   */
  readonly replayWindow?: number | undefined
  /** Hears what the bus does. Without one, errors of handlers go to `console.error`. */
  readonly telemetry?: CrossNodeBusTelemetry | undefined
}
