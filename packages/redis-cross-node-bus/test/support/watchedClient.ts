import type { RedisClient } from '../../src/index.js'
import { templateClient } from './startBus.js'

/** A client whose duplicates are watched as they connect. */
export interface WatchedClient {
  readonly client: RedisClient
  /** Each time that a duplicate of this name began to connect. */
  readonly attempts: (name: string) => readonly number[]
  /** Resolves when every attempt has come to its end. */
  readonly settled: () => Promise<void>
}

/** Makes such a client. What has begun at what time is told by `now`. */
export const watchedClient = (url: string, now: () => number): WatchedClient => {
  const template = templateClient(url)
  const attempts: Array<{ readonly name: string; readonly at: number }> = []
  let connecting = 0
  const duplicate = (overrides: { readonly name: string }): RedisClient => {
    const client = template.duplicate(overrides)
    const connect = client.connect.bind(client)
    return Object.assign(client, {
      connect: () => {
        attempts.push({ name: overrides.name, at: now() })
        connecting++
        return connect().finally(() => connecting--)
      },
    })
  }
  return {
    client: Object.assign(Object.create(template) as RedisClient, { duplicate }),
    attempts: (name) => attempts.filter((attempt) => attempt.name === name).map(({ at }) => at),
    settled: async () => {
      do await new Promise(setImmediate)
      while (connecting > 0)
    },
  }
}
