import { describe, expect, it } from 'vitest'

import { importCost } from '../../scripts/importCost.js'

const RXJS = 223

/** Errors and keys show hostile text with what the runner core has for that, so the tests' entry loads it too. */
const COMPANIONS = [
  '@furystack/blob-store',
  '@furystack/cross-node-bus',
  '@furystack/inject',
  '@furystack/task-runner',
  'own',
]
const OVER_REDIS = '@furystack/redis-connection'

const costOf = async (entry: string) => {
  const { modules, resources } = await importCost(entry)
  const { rxjs, ...ours } = modules
  return { rxjs, packages: Object.keys(ours).sort(), count: Object.values(ours).reduce((a, b) => a + b, 0), resources }
}

describe('importing', () => {
  it.each([
    { entry: '@furystack/redis-task-runner', packages: [...COMPANIONS, OVER_REDIS].sort(), most: 400 },
    { entry: '@furystack/redis-task-runner/testing', packages: COMPANIONS, most: 300 },
    {
      entry: '@furystack/redis-cross-node-bus',
      packages: ['@furystack/cross-node-bus', '@furystack/inject', OVER_REDIS, '@furystack/redis-cross-node-bus'],
      most: 120,
    },
  ])('$entry loads what it needs, no Redis client, and opens nothing', async ({ entry, packages, most }) => {
    const cost = await costOf(entry)
    expect(cost).toMatchObject({ packages, resources: [] })
    expect(cost.rxjs).toBeLessThanOrEqual(RXJS + 20)
    expect(cost.count).toBeGreaterThan(1)
    expect(cost.count).toBeLessThanOrEqual(most)
  })
})
