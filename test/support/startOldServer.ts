import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Transform } from 'node:stream'

import { onTestFinished } from 'vitest'

import type { RedisServer } from './redisServer.js'

/** A server that says of itself that it is of Redis 6.0, because none so old can be had here. */
export const startOldServer = async ({ host, port }: RedisServer): Promise<string> => {
  const proxy = createServer((socket) => {
    const target = connect(port, host)
    const aged = new Transform({
      transform: (chunk: Buffer, _, done) => {
        // The reply keeps its length.
        done(null, chunk.toString('latin1').replace(/(version\r\n\$\d+\r\n)\d+\.\d/, '$16.0'))
      },
    })
    socket.pipe(target)
    target.pipe(aged).pipe(socket)
    for (const end of [socket, target]) end.on('error', () => end.destroy())
    socket.on('close', () => target.destroy())
    target.on('close', () => socket.destroy())
  }).listen(0, host)
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  return `redis://${host}:${(proxy.address() as AddressInfo).port}`
}
