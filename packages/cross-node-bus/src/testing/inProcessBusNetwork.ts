import type { InProcessCrossNodeBus } from '../inProcessCrossNodeBus.js'
import type { MemoryBroker } from '../memoryBroker.js'

/**
 * Buses that hear each other, as those of several nodes do. Disposing the network disposes the buses, the last one
 * first, and then the broker.
 *
 * @example
 * ```ts
 * const network: InProcessBusNetwork = createInProcessBusNetwork({ count: 2 })
 * ```
 */
export type InProcessBusNetwork = Disposable & {
  /** One a node, in the order of the options. */
  readonly buses: readonly InProcessCrossNodeBus[]
  /** What connects them. */
  readonly broker: MemoryBroker
}
