import { expect, it } from 'vitest'

import { soak } from './soak/soak.js'

const MEBIBYTE = 2 ** 20

it('T55 leaves everything as it was, after many tasks and workers', async () => {
  const { base, end, replaced } = await soak({ tasks: 20_000, replaceEvery: 5_000, ends: ['SIGTERM'] })
  expect(replaced).toBe(4)
  expect(end.redis.keys).toBeLessThanOrEqual(base.redis.keys)
  expect(end.redis.consumers).toBeLessThanOrEqual(base.redis.consumers)
  expect(end.redis.connections).toBe(base.redis.connections)
  // A row takes 500 bytes: of 20,000 tasks, nothing that is left one each goes unnoticed.
  expect(end.redis.memory - base.redis.memory).toBeLessThan(MEBIBYTE)
  for (const who of ['submitter', 'worker'] as const) {
    expect(end[who].listeners, `listeners of the ${who}`).toBe(base[who].listeners)
    expect(end[who].resources, `resources of the ${who}`).toBeLessThanOrEqual(base[who].resources + 2)
    expect(end[who].heap - base[who].heap, `heap of the ${who}`).toBeLessThan(3 * MEBIBYTE)
  }
}, 180_000)
