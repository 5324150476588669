import { expect } from 'vitest'

import { until } from '../../support/until.js'
import { checkRecovered } from './checkRecovered.js'
import type { Scenario, Stage } from './scenario.js'
import type { World } from './world.js'

const WITHIN = { timeoutMs: 20_000, intervalMs: 25 }

/** Lets another process come to an end with what a first one has left, and checks what came of it. */
export const recover = async (world: World, scenario: Scenario, stage: Stage): Promise<void> => {
  await scenario.again?.(stage, [...world.log], await world.rows())
  await until(() => world.isOver(), { ...WITHIN, description: 'all tasks are over' })
  // Marks and entries go a moment after the tasks.
  const isClean = async (): Promise<boolean> => (await world.leftovers()).length === 0
  await until(isClean, WITHIN).catch(() => undefined)
  const outcome = await world.outcome()
  checkRecovered(outcome)
  scenario.check(outcome)
  expect(await world.leftovers()).toEqual([])
}
