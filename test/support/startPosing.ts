import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Transform } from 'node:stream'

import { onTestFinished } from 'vitest'

import type { RedisServer } from './redisServer.js'

/** What a server says of itself in its answer to `HELLO`. */
export interface Pose {
  readonly version?: string
  /** @default what it is */
  readonly server?: string
}

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`

/**
 * A way to a real server on which it says of itself that it is another one, for those that cannot be had here. Gives the
 * URL.
 */
export const startPosing = async ({ host, port }: RedisServer, { version, server }: Pose): Promise<string> => {
  const pose = (reply: string): string => {
    let posed = reply
    if (version !== undefined)
      posed = posed.replace(/(\$7\r\nversion\r\n)\$\d+\r\n\d[^\r]*\r\n/, (_, name: string) => name + bulk(version))
    if (server !== undefined)
      posed = posed.replace(/(\$6\r\nserver\r\n)\$\d+\r\n\w+\r\n/, (_, name: string) => name + bulk(server))
    return posed
  }
  const proxy = createServer((socket) => {
    const target = connect(port, host)
    const posing = new Transform({
      transform: (chunk: Buffer, _, done) => done(null, Buffer.from(pose(chunk.toString('latin1')), 'latin1')),
    })
    socket.pipe(target)
    target.pipe(posing).pipe(socket)
    for (const end of [socket, target]) end.on('error', () => end.destroy())
    socket.on('close', () => target.destroy())
    target.on('close', () => socket.destroy())
  }).listen(0, host)
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  return `redis://${host}:${(proxy.address() as AddressInfo).port}`
}
