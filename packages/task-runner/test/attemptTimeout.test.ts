import { NEVER } from 'rxjs'
import { describe, expect, it, vi } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { AttemptTimeoutError } from '../src/index.js'
import { handle, setUpCore } from './support/setUpCore.js'

describe('the time that an attempt may take', () => {
  it('T39 fires the signal, fails the attempt as one to be tried again, and frees the slot of a handler that goes on', async () => {
    const { adapter, register, submit, read } = setUpCore()
    const reasons: unknown[] = []
    const worker = register([
      handle(
        ({ attempt, cancellationSignal }) => {
          if (attempt > 1) return Promise.resolve('at last')
          cancellationSignal.addEventListener('abort', () => reasons.push(cancellationSignal.reason))
          return new Promise(() => undefined)
        },
        { attemptTimeoutMs: 50, retryPolicy: { maxAttempts: 2 } },
      ),
    ])
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    await vi.waitUntil(() => worker.activeTaskCount === 1)
    expect(await outcome).toEqual({ kind: 'failed' })
    expect(reasons).toEqual([new AttemptTimeoutError(id, 1, 50)])
    expect(reasons[0]).toBeInstanceOf(AttemptTimeoutError)
    expect(worker.activeTaskCount).toBe(0)
    expect(await read(id)).toMatchObject({
      status: 'pending',
      attempts: [{ status: 'failed', error: { name: 'AttemptTimeoutError' } }],
    })
    expect(await adapter.deliver(id)).toEqual({ kind: 'success' })
    expect(await read(id)).toMatchObject({ status: 'succeeded', result: 'at last' })
  })

  it('T39 holds whenever another attempt would end later', async () => {
    const { adapter, register, submit } = setUpCore()
    const running = deferred()
    register([
      handle(() => (running.resolve(), NEVER), { attemptTimeoutMs: 5_000 }),
      handle(() => NEVER, { type: 'post', attemptTimeoutMs: 50 }),
    ])
    void adapter.deliver((await submit()).id)
    await running.promise
    expect(await adapter.deliver((await submit({ type: 'post' })).id)).toEqual({ kind: 'failed' })
  })

  it('is told as the time that remains', async () => {
    const { adapter, register, submit } = setUpCore()
    const remaining: number[] = []
    register([
      handle((ctx) => void remaining.push(ctx.remainingMs)),
      handle(
        async (ctx) => {
          remaining.push(ctx.remainingMs)
          await ctx.sleep(20)
          remaining.push(ctx.remainingMs)
        },
        { type: 'timed', attemptTimeoutMs: 60_000 },
      ),
      handle((ctx) => new Promise(() => setTimeout(() => remaining.push(ctx.remainingMs), 80)), {
        type: 'late',
        attemptTimeoutMs: 40,
      }),
    ])
    for (const type of ['mail', 'timed', 'late']) await adapter.deliver((await submit({ type })).id)
    await vi.waitUntil(() => remaining.length === 4)
    expect(remaining[0]).toBe(Infinity)
    expect(remaining[1]).toBeLessThanOrEqual(60_000)
    expect(remaining[1]).toBeGreaterThan(50_000)
    expect(remaining[2]).toBeLessThanOrEqual(remaining[1]! - 19)
    expect(remaining[3]).toBe(0)
  })
})
