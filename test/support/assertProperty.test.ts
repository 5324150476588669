import { setTimeout as delay } from 'node:timers/promises'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { assertProperty } from './assertProperty.js'
import { namedStep } from './namedStep.js'

const messageOf = async (asserting: Promise<void>): Promise<string> => {
  try {
    await asserting
  } catch (error) {
    return [error, (error as Error).cause].map(String).join('\n')
  }
  throw new Error('The property held')
}

describe('assertProperty', () => {
  it('runs as often as it is told to', async () => {
    let runs = 0
    await assertProperty(
      [fc.nat(), fc.string()],
      ([number, text]) => {
        runs++
        expect([typeof number, typeof text]).toEqual(['number', 'string'])
        return Promise.resolve()
      },
      { numRuns: 7 },
    )
    expect(runs).toBe(7)
  })

  it('tells the seed and the smallest counterexample', async () => {
    const message = await messageOf(
      assertProperty([fc.nat()], ([number]) => {
        expect(number).toBeLessThan(3)
        return Promise.resolve()
      }),
    )
    expect(message).toMatch(/seed: -?\d+/)
    expect(message).toContain('Counterexample: [[3]]')
  })

  it('names the step at which a run hangs, with its seed, before the test is over', async () => {
    const steps = ['come', 'stay', 'go'].map((name) => namedStep(name, { name }, () => Promise.resolve()))
    const asserting = assertProperty(
      [fc.constant(steps)],
      async ([all], doing) => {
        for (const step of all.slice(0, 2)) {
          doing(step)
          await step.run(undefined)
        }
        await new Promise(() => undefined)
      },
      { withinMs: 200 },
    )
    const message = await messageOf(asserting)
    expect(message).toMatch(/seed: -?\d+/)
    expect(message).toMatch(/Hangs for \d+ ms at step 2: stay \{"name":"stay"\}/)
  })

  it('stops in time where runs, or smaller counterexamples, take long', async () => {
    let runs = 0
    const slow = async (): Promise<void> => {
      runs++
      await delay(20)
    }
    await assertProperty([fc.nat()], slow, { numRuns: 10_000, withinMs: 200 })
    expect(runs).toBeLessThan(10_000)
    const failing = async (): Promise<void> => {
      await slow()
      throw new Error('no')
    }
    expect(await messageOf(assertProperty([fc.nat()], failing, { withinMs: 200 }))).toContain('seed')
  })
})
