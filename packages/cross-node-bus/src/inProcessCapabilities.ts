import type { CrossNodeBusCapabilities } from './crossNodeBusCapabilities.js'

/** What a bus can do whose messages never leave the process. */
export const inProcessCapabilities: CrossNodeBusCapabilities = Object.freeze({
  persistent: false,
  replay: true,
  assignsSequence: true,
  crossNodeDelivery: false,
})
