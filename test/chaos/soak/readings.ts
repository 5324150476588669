import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import type { SoakClient } from './soakClient.js'

/** What one process holds. */
export interface ProcessReadings {
  /** After garbage collection, in bytes. */
  readonly heap: number
  /** Of the process and of the client that the runner was given. */
  readonly listeners: number
  /** Timers, sockets and what else keeps a process alive. */
  readonly resources: number
}

/** What Redis holds. */
export interface RedisReadings {
  /** In bytes. */
  readonly memory: number
  readonly keys: number
  /** Of all groups together. */
  readonly consumers: number
  readonly connections: number
}

const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

const listenersOf = (emitter: NodeJS.EventEmitter): number =>
  emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0)

/** Looks at the process that it runs in. */
export const readProcess = (client: NodeJS.EventEmitter): ProcessReadings => {
  collectGarbage()
  return {
    heap: process.memoryUsage().heapUsed,
    listeners: listenersOf(process) + listenersOf(client),
    resources: process.getActiveResourcesInfo().length,
  }
}

const consumersOf = async (client: SoakClient, prefix: string): Promise<number> => {
  let consumers = 0
  for (const key of await client.keys(`${prefix}tasks:queue:*`))
    consumers += (await client.xInfoConsumers(key, 'runner').catch(() => [])).length
  return consumers
}

/** Looks at a Redis that nobody else uses. */
export const readRedis = async (client: SoakClient, prefix: string): Promise<RedisReadings> => {
  await client.sendCommand(['MEMORY', 'PURGE'])
  const info = await client.info()
  const number = (name: string): number => Number(new RegExp(`${name}:(\\d+)`).exec(info)?.[1])
  return {
    memory: number('used_memory'),
    keys: await client.dbSize(),
    consumers: await consumersOf(client, prefix),
    connections: number('connected_clients'),
  }
}
