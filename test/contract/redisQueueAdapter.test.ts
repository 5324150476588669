import { redisQueueAdapter } from '../../src/adapter/redisQueueAdapter.js'
import { connectMinimalClient } from '../support/minimalUser.js'
import { uniquePrefix } from '../support/redis.js'
import { queueAdapterSuite } from './queueAdapterSuite.js'

queueAdapterSuite('redisQueueAdapter', async ({ nodes, ...options }) => {
  const closers: Array<() => void> = []
  const topicPrefix = uniquePrefix('queue')
  const client = await connectMinimalClient(topicPrefix, { onFinished: (close) => closers.unshift(close) })
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
