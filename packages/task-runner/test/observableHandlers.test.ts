import { concat, defer, EMPTY, merge, NEVER, Observable, of, range, Subject, take, throwError } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { MemoryTaskStore, NonRetryableError, NotNowError, type TaskUpdate } from '../src/index.js'
import { overrideStore } from './support/overrideStore.js'
import { handle, setUpCore, type TestHandler } from './support/setUpCore.js'

/** Runs a task whose handler is given, and shows how it ended. */
const run = async (handler: TestHandler) => {
  const setup = setUpCore()
  const updates: TaskUpdate[] = []
  setup.core.subscribeByType('mail', (update) => updates.push(update))
  setup.register([handle(handler, { progressThrottleMs: 0, retryPolicy: { maxAttempts: 2 } })])
  const { id } = await setup.submit()
  const outcome = await setup.adapter.deliver(id)
  const progress = updates.flatMap((update) => (update.kind === 'progress' ? [[update.percent, update.meta]] : []))
  return { ...setup, outcome, progress, task: await setup.read(id) }
}

/** A task that runs until it is told to stop, and what its teardown saw. */
const runEndless = async (setup = setUpCore()) => {
  const subscribed = deferred()
  const seen: string[] = []
  const worker = setup.register([
    handle(
      (ctx) =>
        new Observable((out) => {
          out.next('working')
          ctx.cancellationSignal.addEventListener('abort', () => {
            seen.push('signal')
            // It would succeed, had it not been left already.
            out.complete()
          })
          subscribed.resolve()
          return () => seen.push(`teardown ${(ctx.cancellationSignal.reason as Error).name}`)
        }),
      { cancelOnDrain: true, visibilityTimeoutMs: 150 },
    ),
  ])
  const { id } = await setup.submit()
  const outcome = setup.adapter.deliver(id)
  await subscribed.promise
  return { ...setup, worker, id, outcome, seen }
}

describe('a handler that returns an Observable', () => {
  it('has the last value as its result', async () => {
    const { outcome, task } = await run(() => of('a', 'b', 'c'))
    expect(outcome).toEqual({ kind: 'success' })
    expect(task).toMatchObject({ status: 'succeeded', result: 'c' })
  })

  it('has no result without a value', async () => {
    const { task } = await run(() => EMPTY)
    expect(task.status).toBe('succeeded')
    expect(task).not.toHaveProperty('result')
    expect(task).not.toHaveProperty('progress')
  })

  it('may be asynchronous, and come behind a promise', async () => {
    const values$ = new Subject<number>()
    const later = (): void => {
      values$.next(1)
      values$.next(2)
      values$.complete()
    }
    const { task } = await run(async () => Promise.resolve(defer(() => (setImmediate(later), values$))))
    expect(task).toMatchObject({ status: 'succeeded', result: 2 })
  })

  it('may return a plain value instead', async () => {
    expect((await run(() => ({ plain: true }))).task).toMatchObject({ status: 'succeeded', result: { plain: true } })
    expect((await run(() => undefined)).task.status).toBe('succeeded')
  })

  it('reports each value as progress: reports as such, others as meta with the percentage so far', async () => {
    const given$ = new Subject<unknown>()
    const subscribed = deferred()
    const setup = setUpCore()
    setup.register([handle(() => defer(() => (subscribed.resolve(), given$)), { progressThrottleMs: 0 })])
    const { id } = await setup.submit()
    const outcome = setup.adapter.deliver(id)
    await subscribed.promise
    const reports: unknown[] = []
    for (const value of [{ percent: 40, meta: 'half' }, { percent: 60 }, { step: 3 }, { percent: 70, more: true }]) {
      const reported = deferred<unknown>()
      using _subscription = setup.core.subscribe(id, (update) => {
        if (update.kind === 'progress') reported.resolve([update.percent, update.meta])
      })
      given$.next(value)
      reports.push(await reported.promise)
    }
    given$.complete()
    await outcome
    expect(reports).toEqual([
      [40, 'half'],
      [60, undefined],
      [60, { step: 3 }],
      [60, { percent: 70, more: true }],
    ])
    expect(await setup.read(id)).toMatchObject({ status: 'succeeded', result: { percent: 70, more: true } })
  })

  it('fails with what it errors with, and is tried again', async () => {
    const { outcome, task } = await run(() =>
      concat(
        of(1),
        throwError(() => new RangeError('no more')),
      ),
    )
    expect(outcome).toEqual({ kind: 'failed' })
    expect(task).toMatchObject({ status: 'pending', attempts: [{ status: 'failed', error: { name: 'RangeError' } }] })
    expect((await run(() => throwError(() => new NonRetryableError('bad')))).task.status).toBe('failed')
  })

  it('may say "not now" by its error', async () => {
    const { outcome, task } = await run(() => throwError(() => new NotNowError(60_000)))
    expect(outcome).toMatchObject({ kind: 'requeue' })
    expect(task).toMatchObject({ status: 'pending', attempts: [{ status: 'released' }] })
  })

  it('copes with 100,000 synchronous values', async () => {
    const { task } = await run(() => range(1, 100_000))
    expect(task).toMatchObject({ status: 'succeeded', result: 100_000, progress: { percent: 0, meta: 100_000 } })
  })

  it('is unsubscribed from when its task is cancelled, and the attempt ends at once', async () => {
    const { core, id, outcome, seen, read } = await runEndless()
    await core.cancel(id, 'enough')
    expect(seen).toEqual(['signal', 'teardown TaskCancelledError'])
    expect(await outcome).toEqual({ kind: 'cancelled' })
    expect(await read(id)).toMatchObject({ status: 'cancelled', attempts: [{ status: 'cancelled' }] })
  })

  it('is handed back when its worker drains', async () => {
    const { worker, id, outcome, seen, read } = await runEndless()
    await worker.drain()
    expect(seen).toEqual(['signal', 'teardown TaskCancelledError'])
    expect(await outcome).toEqual({ kind: 'requeue' })
    expect(await read(id)).toMatchObject({ status: 'pending', attempts: [{ status: 'released' }] })
  })

  it('is unsubscribed from when the lease is lost, and nothing is written', async () => {
    const memory = new MemoryTaskStore()
    const written: unknown[] = []
    const store = overrideStore(memory, {
      extendAttempt: () => Promise.resolve({ kind: 'lost' }),
      finishAttempt: (input) => (written.push(input), memory.finishAttempt(input)),
    })
    const { outcome, seen } = await runEndless(setUpCore({ store }))
    expect(await outcome).toEqual({ kind: 'success' })
    expect(seen).toEqual(['signal', 'teardown LeaseLostError'])
    expect(written).toEqual([])
  })

  it('is left in the middle of synchronous values', async () => {
    const setup = setUpCore()
    const broker = new AbortController()
    const emitted: number[] = []
    const teardown = () => emitted.push(0)
    setup.register(
      () =>
        new Observable((out) => {
          out.add(teardown)
          for (let value = 1; value <= 1_000 && !out.closed; value++) {
            emitted.push(value)
            if (value === 3) broker.abort()
            out.next(value)
          }
        }),
    )
    const { id } = await setup.submit()
    const lease = { lost: broker.signal }
    expect(await setup.adapter.deliver(id, { lease })).toEqual({ kind: 'success' })
    expect(emitted).toEqual([1, 2, 3, 0])
    expect((await setup.read(id)).status).toBe('running')
  })

  it('is not subscribed to if it comes too late', async () => {
    const { core, register, submit, adapter, read } = setUpCore()
    const [running, gate] = [deferred(), deferred()]
    let subscriptions = 0
    register(async () => {
      running.resolve()
      await gate.promise
      return defer(() => ((subscriptions += 1), NEVER))
    })
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    await running.promise
    await core.cancel(id)
    gate.resolve()
    expect(await outcome).toEqual({ kind: 'cancelled' })
    expect((await read(id)).status).toBe('cancelled')
    expect(subscriptions).toBe(0)
  })

  it('is left while it waits for its children, and subscribed to anew when they have ended', async () => {
    const { register, submit, adapter, read } = setUpCore()
    const open = new Set<number>()
    register([
      handle((ctx) =>
        merge(
          new Observable<never>(() => {
            open.add(ctx.attempt)
            return () => open.delete(ctx.attempt)
          }),
          defer(() => ctx.spawnChildAndAwait<number, string>('child', 1)),
        ).pipe(take(1)),
      ),
      handle(() => 'done', { type: 'child' }),
    ])
    const { id } = await submit()
    expect(await adapter.deliver(id)).toEqual({ kind: 'suspended' })
    expect(open).toEqual(new Set())
    await adapter.deliver((await read(id)).childTaskIds[0]!, { type: 'child' })
    expect(await adapter.deliver(id)).toEqual({ kind: 'success' })
    expect(open).toEqual(new Set())
    expect((await read(id)).result).toBe('done')
  })

  it('is not subscribed to once its run waits for children', async () => {
    const { register, submit, adapter } = setUpCore()
    const gate = deferred()
    const returned = deferred()
    let subscriptions = 0
    register(async (ctx) => {
      void ctx.spawnChildAndAwait('child', 1)
      await gate.promise
      setImmediate(returned.resolve)
      return defer(() => ((subscriptions += 1), NEVER))
    })
    const { id } = await submit()
    expect(await adapter.deliver(id)).toEqual({ kind: 'suspended' })
    gate.resolve()
    await returned.promise
    expect(subscriptions).toBe(0)
  })

  it('cannot disturb anybody by what its teardown throws', async () => {
    const { core, register, submit, adapter, errors } = setUpCore()
    const subscribed = deferred()
    const teardown = (): never => {
      throw new Error('a bad teardown')
    }
    register(() => new Observable(() => (subscribed.resolve(), teardown)))
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    await subscribed.promise
    await core.cancel(id)
    expect(await outcome).toEqual({ kind: 'cancelled' })
    expect(errors).toMatchObject([{ operation: 'handler' }])
  })
})
