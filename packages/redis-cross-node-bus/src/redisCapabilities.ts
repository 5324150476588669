import type { CrossNodeBusCapabilities } from '@furystack/cross-node-bus'

/** What a bus can do whose messages lie in Redis Streams. */
export const redisCapabilities: CrossNodeBusCapabilities = Object.freeze({
  persistent: true,
  replay: true,
  assignsSequence: true,
  crossNodeDelivery: true,
})
