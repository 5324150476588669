import { describe, expect, it } from 'vitest'

import { calculateBackoff, DEFAULT_RETRY_POLICY, type BackoffFailure, type BackoffFunction } from '../src/index.js'
import { handle, setUpCore } from './support/setUpCore.js'

/** Lets a task fail once, and shows when it is to run again. */
const failOnce = async (backoff: BackoffFunction, more: object = {}) => {
  const setup = setUpCore()
  setup.register([handle(() => Promise.reject(new Error('no')), { retryPolicy: { maxAttempts: 9, backoff, ...more } })])
  const { id } = await setup.submit()
  const before = Date.now()
  await setup.adapter.deliver(id)
  const task = await setup.read(id)
  const pauseMs = task.notBefore === undefined ? 0 : Date.parse(task.notBefore) - before
  return { ...setup, task, pauseMs }
}

describe('a back-off of one’s own', () => {
  it('is asked with the failure, as long as there are attempts left', async () => {
    const asked: BackoffFailure[] = []
    const { adapter, register, submit, read, store } = setUpCore()
    const backoff: BackoffFunction = (failure) => (asked.push(failure), 0)
    const error = new Error('no')
    register([handle(() => Promise.reject(error), { retryPolicy: { maxAttempts: 3, backoff } })])
    const { id } = await submit()
    await store.beginAttempt({ taskId: id, workerId: 'w', visibilityTimeoutMs: 60_000, redelivered: false })
    const released = { kind: 'released' } as const
    await store.finishAttempt({ taskId: id, attempt: 1, workerId: 'w', startedAt: 0, outcome: released })
    for (let turn = 0; turn < 3; turn++) await adapter.deliver(id)
    expect((await read(id)).status).toBe('failed')
    expect(asked).toEqual([
      { attempt: 2, failures: 1, error },
      { attempt: 3, failures: 2, error },
    ])
    expect(asked[0]?.error).toBe(error)
  })

  it('has its answer kept, without jitter and up to an hour', async () => {
    for (const [answer, pauseMs] of [
      [0, 0],
      [5_000, 5_000],
      [1e9, 3_600_000],
      [Infinity, 3_600_000],
    ] as const) {
      const end = await failOnce(() => answer, { jitter: 1, baseDelayMs: 50 })
      expect(end.task.status).toBe('pending')
      expect(end.pauseMs).toBeGreaterThanOrEqual(pauseMs)
      expect(end.pauseMs).toBeLessThan(pauseMs + 1_000)
      expect(end.errors).toEqual([])
    }
  })

  it('may forbid a retry', async () => {
    expect((await failOnce(() => 'never')).task).toMatchObject({ status: 'failed', error: { message: 'no' } })
  })

  it.each<[string, BackoffFunction]>([
    [
      'throws',
      () => {
        throw new Error('bad')
      },
    ],
    ['answers a negative number', () => -1],
    ['answers no number', () => Number.NaN],
    ['answers something else', () => 'soon' as never],
  ])('that %s is reported, and counts as exponential', async (_, backoff) => {
    const { task, pauseMs, errors } = await failOnce(backoff, { baseDelayMs: 10_000 })
    expect(task.status).toBe('pending')
    expect(pauseMs).toBeGreaterThanOrEqual(10_000)
    expect(pauseMs).toBeLessThan(11_000)
    expect(errors).toMatchObject([{ operation: 'backoff' }])
    expect(calculateBackoff({ ...DEFAULT_RETRY_POLICY, backoff, baseDelayMs: 100 }, 3)).toBe(400)
  })
})
