import { defineTaskHandler } from '@furystack/task-runner'
import { expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { serverOfTest } from '../support/redisServer.js'
import { startService } from '../support/service.js'

const TASKS = 300

const readsOf = async (client: Awaited<ReturnType<typeof startService>>['client']): Promise<number> =>
  Number(/total_reads_processed:(\d+)/.exec(await client.info('stats'))?.[1])

it('costs one round trip a task at one slot: the settlement and the next claim share a write', async () => {
  const server = await serverOfTest()
  const { runner, client, work } = await startService({ url: server.url })
  const done = deferred<undefined>()
  let ran = 0
  const count = defineTaskHandler({
    type: 'count',
    version: 1,
    handler: async () => {
      if (++ran === TASKS) done.resolve(undefined)
      return Promise.resolve()
    },
  })
  await Promise.all(
    Array.from({ length: TASKS }, () => runner.submit({ type: 'count', payload: 0, handlerVersion: 1 })),
  )
  const before = await readsOf(client)
  work([count], { concurrency: 1 })
  await done.promise
  const reads = (await readsOf(client)) - before
  // A few more for connecting, the tick, and the scripts' texts.
  expect(reads).toBeGreaterThanOrEqual(TASKS)
  expect(reads).toBeLessThan(TASKS * 1.15 + 40)
})
