import type { InProcessCrossNodeBusOptions } from './inProcessCrossNodeBusOptions.js'

/**
 * Options of `defineInProcessCrossNodeBus`: those of the bus without `telemetry`, which comes from the injector.
 *
 * @example
 * ```ts
 * const options: DefineInProcessCrossNodeBusOptions = { nodeId: 'worker-1', topicPrefix: 'shop/' }
 * ```
 */
export type DefineInProcessCrossNodeBusOptions = Omit<InProcessCrossNodeBusOptions, 'telemetry'>
