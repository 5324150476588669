import { expect, it } from 'vitest'

import { serverOfTest } from '../support/redisServer.js'
import { startService } from '../support/service.js'

it('sends the text of a script once, however many calls find it missing at the same time', async () => {
  const { url } = await serverOfTest()
  const { client, runner } = await startService({ url, expiryIntervalMs: Infinity, maintenanceIntervalMs: Infinity })
  const texts = async (): Promise<number> =>
    Number(/cmdstat_eval:calls=(\d+)/.exec(await client.info('commandstats'))?.[1] ?? 0)
  const ask = (): Promise<unknown[]> =>
    Promise.all(Array.from({ length: 200 }, (_, index) => runner.get(`task ${String(index)}`)))
  await ask()
  expect(await texts()).toBe(1)
  await client.scriptFlush()
  await ask()
  await ask()
  expect(await texts()).toBe(2)
})
