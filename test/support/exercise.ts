import { setTimeout } from 'node:timers/promises'

import { defineTaskHandler, type TaskContext } from '@furystack/task-runner'
import { expect } from 'vitest'

import type { ServiceOnClient } from './service.js'
import { until } from './until.js'

const double = defineTaskHandler({ type: 'double', version: 1, handler: (_, n: number) => n * 2 })
const family = defineTaskHandler({
  type: 'family',
  version: 1,
  handler: async (ctx: TaskContext<number[]>, numbers) => {
    const children = await Promise.all(numbers.map((n) => ctx.spawnChild<number, number>('double', n)))
    return (await ctx.awaitChildren(children)).reduce((sum, n) => sum + n, 0)
  },
})
const long = defineTaskHandler({
  type: 'long',
  version: 1,
  // Holds its slot; the sleep of the context would let go of it.
  handler: (ctx) => setTimeout(60_000, undefined, { signal: ctx.cancellationSignal }),
})

/** Handlers whose worker can be put through {@link exercise}. */
export const exercises = [double, family, long]

/** One of everything that a runner does: run, cap, delay, a tree, cancel. The service has a worker for {@link exercises}. */
export const exercise = async ({ runner }: ServiceOnClient, { timeoutMs = 15_000 } = {}): Promise<void> => {
  const submit = (type: string, payload: unknown, notBefore?: Date) =>
    runner.submit({ type, handlerVersion: 1, payload, ...(notBefore && { notBefore }) })
  const running = await submit('long', null)
  const tasks = await Promise.all([
    submit('double', 1),
    submit('double', 2, new Date(Date.now() + 200)),
    submit('family', [1, 2, 3]),
  ])
  const results = await Promise.all(tasks.map(({ id }) => runner.waitFor(id, { timeoutMs })))
  expect(results).toEqual([2, 4, 12])
  await until(async () => (await runner.get(running.id))?.status === 'running', { timeoutMs, description: 'it runs' })
  await runner.cancel(running.id)
  await until(async () => (await runner.get(running.id))?.status === 'cancelled', { timeoutMs, description: 'it ends' })
}

/** Submits a task as often as it takes, as an application does that is told to come back later; gives its result. */
export const submitUntilTaken = async (
  { runner }: ServiceOnClient,
  n: number,
  timeoutMs = 20_000,
): Promise<unknown> => {
  const { id } = await until(
    () => runner.submit({ type: 'double', handlerVersion: 1, payload: n, idempotencyKey: `submit ${n}` }),
    { timeoutMs, description: 'the submission is taken' },
  )
  return runner.waitFor(id, { timeoutMs })
}
