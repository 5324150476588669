import type { RedisSentinel } from './redisSentinel.js'

/** A server by its address. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
}

/** What a Sentinel client was made with, as far as it takes that to ask a Sentinel. */
export interface SentinelSettings {
  /** Of the primary, as the Sentinels call it. */
  readonly name: string
  readonly sentinelRootNodes: readonly ServerAddress[]
  /** How to sign in at a Sentinel, which may be otherwise than at the primary. */
  readonly sentinelClientOptions?: { readonly socket?: object }
  /** By what addresses servers are reached from here. */
  readonly nodeAddressMap?: Readonly<Record<string, ServerAddress>> | ((address: string) => ServerAddress | undefined)
}

/**
 * What a Sentinel client was made with. It does not tell, but its `duplicate` makes another one of it: given something else
 * to make, that takes the settings instead.
 *
 * @returns `undefined` where that is not possible; the clients of `redis` 5 have no `duplicate`
 *
 * @example
 * import { createSentinel } from 'redis'
 * const sentinel = createSentinel({ name: 'main', sentinelRootNodes: [{ host: 'sentinel-1', port: 26379 }] })
 * sentinelSettings(sentinel)?.name // 'main'
 */
export const sentinelSettings = (sentinel: RedisSentinel): SentinelSettings | undefined => {
  let taken: Partial<SentinelSettings> | undefined
  class Taker {
    constructor(settings: Partial<SentinelSettings>) {
      taken = settings
    }
  }
  try {
    const itself = Object.create(sentinel, { constructor: { value: Taker } }) as RedisSentinel
    sentinel.duplicate?.call(Object.create(itself) as RedisSentinel)
  } catch {
    // A release of the client that goes about it in another way: then there is what it hears by itself.
  }
  return isComplete(taken) ? taken : undefined
}

const isComplete = (settings: Partial<SentinelSettings> | undefined): settings is SentinelSettings =>
  typeof settings?.name === 'string' && Array.isArray(settings.sentinelRootNodes)
