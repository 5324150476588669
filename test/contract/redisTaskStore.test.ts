import { keys } from '../../src/keys/keys.js'
import { redisTaskStore } from '../../src/redis/redisTaskStore.js'
import { connectTo } from '../support/connectTo.js'
import { connectClient, uniquePrefix } from '../support/redis.js'
import { taskStoreSuite } from './taskStoreSuite.js'

taskStoreSuite('redisTaskStore', async () => {
  const closers: Array<() => void> = []
  const client = await connectClient({ onFinished: (close) => closers.push(close) })
  const connection = connectTo(client)
  return {
    store: redisTaskStore({ connection, keys: keys(uniquePrefix('store')) }),
    dispose: async () => {
      await connection[Symbol.asyncDispose]()
      for (const close of closers) close()
    },
  }
})
