import { assertPositiveInteger } from '../assertPositiveInteger.js'
import { InProcessCrossNodeBus } from '../inProcessCrossNodeBus.js'
import { MemoryBroker } from '../memoryBroker.js'
import type { CreateInProcessBusNetworkOptions } from './createInProcessBusNetworkOptions.js'
import type { InProcessBusNetwork } from './inProcessBusNetwork.js'

/**
 * Makes buses on one broker, to test code that runs on several nodes within one process.
 *
 * @throws RangeError if `count` or `replayWindow` is not a positive integer, or a list does not have `count` entries.
 *
 * @example
 * ```ts
 * using network = createInProcessBusNetwork({ count: 2, nodeIds: ['shop', 'stock'] })
 * const [shop, stock] = network.buses
 * ```
 */
export function createInProcessBusNetwork(options: CreateInProcessBusNetworkOptions): InProcessBusNetwork {
  const { count, replayWindow, topicPrefixes, nodeIds, telemetries } = options
  assertPositiveInteger('count', count)
  for (const [name, list] of Object.entries({ topicPrefixes, nodeIds, telemetries })) {
    if (list && list.length !== count) {
      throw new RangeError(`${name} must have ${count} entries, one per bus, not ${list.length}`)
    }
  }

  const broker = new MemoryBroker({ replayWindow })
  const buses = Array.from(
    { length: count },
    (_, index) =>
      new InProcessCrossNodeBus({
        broker,
        nodeId: nodeIds?.[index],
        topicPrefix: topicPrefixes?.[index],
        telemetry: telemetries?.[index],
      }),
  )

  return {
    buses,
    broker,
    [Symbol.dispose]: () => {
      for (const bus of buses.toReversed()) bus[Symbol.dispose]()
      broker[Symbol.dispose]()
    },
  }
}
