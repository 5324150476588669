import { createInProcessBusNetwork } from '@furystack/cross-node-bus/testing'

import { busSuite } from './busSuite.js'

busSuite('A network of in-process buses', ({ nodeIds, ...needs }) => {
  const network = createInProcessBusNetwork({ count: nodeIds.length, nodeIds, ...needs })
  return Promise.resolve({
    buses: network.buses,
    startToken: '0',
    overflow: (replayWindow) => replayWindow + 3,
    dispose: () => Promise.resolve(network[Symbol.dispose]()),
  })
})
