import { describe, expect, it } from 'vitest'

import { isNotNowError, MemoryTaskStore, NotNowError, type TaskContext } from '../src/index.js'
import { handle, setUpCore } from './support/setUpCore.js'

const foreign = (delayMs: unknown) =>
  Object.assign(new Error('x'), { [Symbol.for('@furystack/task-runner/NotNowError')]: true, delayMs })

describe('"not now"', () => {
  it.each<[string, (ctx: TaskContext<unknown>) => never]>([
    [
      'an error',
      () => {
        throw new NotNowError(59_999.5)
      },
    ],
    [
      'the error of another copy',
      () => {
        throw foreign(60_000)
      },
    ],
    ['the context', ({ notNow }) => notNow(60_000)],
  ])('T42 said by %s gives the task back after the delay, and spends no attempt', async (_, say) => {
    let ahead = 0
    const store = new MemoryTaskStore({ now: () => Date.now() + ahead })
    const { adapter, register, submit, read, errors, telemetry } = setUpCore({ store })
    const failed: unknown[] = []
    telemetry.addListener('onTaskFailed', (event) => failed.push(event))
    register([
      handle((ctx) => (ctx.attempt < 4 ? say(ctx) : Promise.resolve('at last')), { retryPolicy: { maxAttempts: 1 } }),
    ])
    const { id } = await submit()
    for (let turn = 0; turn < 3; turn++) {
      const before = Date.now()
      const outcome = await adapter.deliver(id)
      if (outcome.kind !== 'requeue' || outcome.notBefore === undefined) throw new Error(`not back: ${outcome.kind}`)
      expect(outcome.notBefore.getTime()).toBeGreaterThanOrEqual(before + ahead + 60_000)
      expect((await read(id)).notBefore).toBe(outcome.notBefore.toISOString())
      // Whoever comes sooner is sent away.
      expect(await adapter.deliver(id)).toMatchObject({ kind: 'requeue' })
      expect((await read(id)).attempts).toHaveLength(turn + 1)
      ahead += 60_001
    }
    expect(await adapter.deliver(id)).toEqual({ kind: 'success' })
    const task = await read(id)
    expect(task).toMatchObject({ status: 'succeeded', result: 'at last' })
    expect(task.attempts.map(({ status }) => status)).toEqual(['released', 'released', 'released', 'succeeded'])
    expect([...failed, ...errors]).toEqual([])
  })

  it('comes back at once without a delay', async () => {
    const { adapter, register, submit } = setUpCore()
    register((ctx) => ctx.notNow(0))
    expect(await adapter.deliver((await submit()).id)).toEqual({ kind: 'requeue' })
  })

  it('T43 takes delays only', async () => {
    for (const delayMs of [-1, Number.NaN, Infinity, '5' as never]) {
      expect(() => new NotNowError(delayMs)).toThrow(expect.objectContaining({ property: 'delayMs' }))
    }
    const { adapter, register, submit } = setUpCore()
    register((ctx) => ctx.notNow(-1))
    expect(await adapter.deliver((await submit()).id)).toEqual({ kind: 'failed' })
  })

  it('T44 is known by its mark', () => {
    for (const error of [new NotNowError(1), foreign(1)]) expect(isNotNowError(error)).toBe(true)
    for (const other of [new Error('x'), foreign('soon'), undefined, {}]) expect(isNotNowError(other)).toBe(false)
  })
})
