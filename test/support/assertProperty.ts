import fc from 'fast-check'
import { TestRunner } from 'vitest'

/** Tells what is about to be done, for whoever wants to know where a run hangs. */
export type Doing = (step: unknown) => void

/** How a property is checked. */
export interface PropertyOptions {
  /** How many runs, if there is time for all of them. @default 100 */
  readonly numRuns?: number
  /** In milliseconds. @default what the test has */
  readonly withinMs?: number
}

/** Shares of the time: no run begins after the first, no counterexample is made smaller after the second. */
const EXPLORE = 0.5
const SHRINK = 0.75
/** A run that has not ended by then hangs. */
const GIVE_UP = 0.9

/**
 * `fc.assert` for properties that take time: it ends before its test times out, which would hide seed and counterexample.
 * On a slow machine it makes fewer runs; a counterexample is made smaller only while there is time; and a run that does
 * not end fails, with the step that it is in.
 *
 * @example
 * await assertProperty([fc.array(anyStep)], async ([steps], doing) => {
 *   for (const step of steps) {
 *     doing(step)
 *     await step.run(side)
 *   }
 * })
 */
export const assertProperty = async <Given extends [unknown, ...unknown[]]>(
  given: { readonly [Index in keyof Given]: fc.Arbitrary<Given[Index]> },
  holds: (given: Given, doing: Doing) => Promise<void>,
  { numRuns = 100, withinMs = TestRunner.getCurrentTest()?.timeout ?? 20_000 }: PropertyOptions = {},
): Promise<void> => {
  const began = performance.now()
  const isPast = (share: number): boolean => performance.now() - began > share * withinMs
  let runs = 0
  let hasFailed = false
  const run = async (values: Given): Promise<void> => {
    if (runs > 0 && isPast(hasFailed ? SHRINK : EXPLORE)) return
    runs++
    try {
      await orHangs((doing) => holds(values, doing), began + GIVE_UP * withinMs)
    } catch (error) {
      hasFailed = true
      throw error
    }
  }
  await fc.assert(fc.asyncProperty(fc.tuple(...given) as unknown as fc.Arbitrary<Given>, run), { numRuns })
}

/** Does it, and rejects at the given time if it has not ended by then. */
const orHangs = async (work: (doing: Doing) => Promise<void>, until: number): Promise<void> => {
  let present = 'its beginning'
  let since = performance.now()
  let steps = 0
  let timer: NodeJS.Timeout | undefined
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const forMs = Math.round(performance.now() - since)
      reject(new Error(`Hangs for ${forMs} ms at ${steps === 0 ? present : `step ${steps}: ${present}`}`))
    }, until - performance.now())
  })
  const doing: Doing = (step) => {
    steps++
    since = performance.now()
    present = fc.stringify(step)
  }
  try {
    await Promise.race([work(doing), hangs])
  } finally {
    clearTimeout(timer)
  }
}
