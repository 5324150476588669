// The floor: Redis Streams with node-redis alone. No rows, results, retries, delays or recovery; nothing is kept.
import { createRequire } from 'node:module'

import { createClient } from 'redis'

const require = createRequire(import.meta.url)
const GROUP = 'workers'

const connect = async ({ host, port }) => {
  // The client's timer for each command costs more than the command.
  const client = createClient({ socket: { host, port }, commandOptions: { timeout: undefined } })
  client.on('error', () => {})
  await client.connect()
  return client
}

const open = async (client, stream) => {
  try {
    await client.xGroupCreate(stream, GROUP, '0', { MKSTREAM: true })
  } catch (error) {
    if (!String(error.message).startsWith('BUSYGROUP')) throw error
  }
}

export default {
  name: 'bare Streams',
  versions: () => ({ redis: require('redis/package.json').version }),

  async createProducer({ redis, queue }) {
    const client = await connect(redis)
    await open(client, queue)
    const add = (data) => client.xAdd(queue, '*', { data: JSON.stringify(data) })
    return { add, addBulk: (list) => Promise.all(list.map(add)), close: () => client.close() }
  },

  async createWorker({ redis, queue, concurrency, handler, onCompleted, onError }) {
    const [commands, reader] = await Promise.all([connect(redis), connect(redis)])
    await open(commands, queue)
    let active = 0
    let isClosing = false
    let wake
    const run = async ({ id, message }) => {
      await handler(JSON.parse(message.data))
      await Promise.all([commands.xAck(queue, GROUP, id), commands.xDel(queue, id)])
      active--
      onCompleted(id)
      wake?.()
    }
    const loop = async () => {
      while (!isClosing) {
        const free = concurrency - active
        if (free === 0) {
          await new Promise((resolve) => (wake = resolve))
          wake = undefined
          continue
        }
        const streams = await reader.xReadGroup(GROUP, 'one', { key: queue, id: '>' }, { COUNT: free, BLOCK: 5_000 })
        for (const message of streams?.[0]?.messages ?? []) {
          active++
          run(message).catch(onError)
        }
      }
    }
    const ended = loop().catch((error) => isClosing || onError(error))
    return {
      close: async () => {
        isClosing = true
        reader.destroy()
        wake?.()
        await ended
        await commands.close()
      },
    }
  },
}
