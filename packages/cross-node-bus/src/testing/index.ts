export { createInProcessBusNetwork } from './createInProcessBusNetwork.js'
export type { CreateInProcessBusNetworkOptions } from './createInProcessBusNetworkOptions.js'
export type { InProcessBusNetwork } from './inProcessBusNetwork.js'
