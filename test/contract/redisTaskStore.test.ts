import { keys } from '../../src/keys/keys.js'
import { redisTaskStore } from '../../src/redis/redisTaskStore.js'
import { connectTo } from '../support/connectTo.js'
import { connectMinimalClient } from '../support/minimalUser.js'
import { uniquePrefix } from '../support/redis.js'
import { taskStoreSuite } from './taskStoreSuite.js'

taskStoreSuite('redisTaskStore', async () => {
  const closers: Array<() => void> = []
  const prefix = uniquePrefix('store')
  const client = await connectMinimalClient(prefix, { onFinished: (close) => closers.unshift(close) })
  const connection = connectTo(client)
  return {
    store: redisTaskStore({ connection, keys: keys(prefix) }),
    dispose: async () => {
      await connection[Symbol.asyncDispose]()
      for (const close of closers) close()
    },
  }
})
