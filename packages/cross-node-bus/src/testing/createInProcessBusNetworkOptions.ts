import type { CrossNodeBusTelemetry } from '../crossNodeBusTelemetry.js'

/**
 * Options of `createInProcessBusNetwork`. Each list has one entry per bus.
 *
 * @example
 * ```ts
 * const options: CreateInProcessBusNetworkOptions = { count: 2, nodeIds: ['shop', 'stock'] }
 * ```
 */
export type CreateInProcessBusNetworkOptions = {
  /** Number of buses: a positive integer. */
  readonly count: number
  /** How many messages the broker retains per topic. Default: that of `MemoryBroker`. */
  readonly replayWindow?: number | undefined
  /** Default: no prefix on any bus. */
  readonly topicPrefixes?: readonly string[] | undefined
  /** Default: a random one per bus. */
  readonly nodeIds?: readonly string[] | undefined
  /** Stay the caller's to dispose. Default: none. */
  readonly telemetries?: readonly CrossNodeBusTelemetry[] | undefined
}
