import { redisQueueAdapter } from '../../src/adapter/redisQueueAdapter.js'
import { connectClient, uniquePrefix } from '../support/redis.js'
import { queueAdapterSuite } from './queueAdapterSuite.js'

queueAdapterSuite('redisQueueAdapter', async ({ nodes, ...options }) => {
  const closers: Array<() => void> = []
  const client = await connectClient({ onFinished: (close) => closers.push(close) })
  const topicPrefix = uniquePrefix('queue')
  const adapters = Array.from({ length: nodes }, () =>
    redisQueueAdapter({ client, serviceName: 'test', topicPrefix, ...options }),
  )
  return {
    adapters,
    dispose: async () => {
      await Promise.all(adapters.map((adapter) => adapter[Symbol.asyncDispose]()))
      for (const close of closers) close()
    },
  }
})
