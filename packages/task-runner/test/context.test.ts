import { getEventListeners } from 'node:events'

import { describe, expect, it, vi } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import type { TaskContext } from '../src/index.js'
import { setUpCore } from './support/setUpCore.js'

/** Runs `use` as a handler, and gives what it returned. */
const within = async <T>(use: (ctx: TaskContext<unknown>) => Promise<T> | T, payload: unknown = 1) => {
  const setup = setUpCore()
  const returned = deferred<T>()
  setup.register(async (ctx) => {
    try {
      returned.resolve(await use(ctx))
    } catch (error) {
      returned.reject(error)
    }
  })
  const { id } = await setup.submit({ payload })
  await setup.adapter.deliver(id)
  return { ...setup, id, value: await returned.promise }
}

describe('the context of a handler', () => {
  it('shows the task and what belongs to the runner', async () => {
    const { id, value, injector, blobStore } = await within((ctx) => ctx, { n: 1 })
    expect(value).toMatchObject({ taskId: id, attempt: 1, payload: { n: 1 } })
    expect(value.injector).toBe(injector)
    expect(value.blobStore).toMatchObject({ storeName: 'blobs', capabilities: blobStore.capabilities })
    expect(value.blobStore).toBe(value.blobStore)
    expect(value.cancellationSignal).toBe(value.cancellationSignal)
    expect(value.cancellationSignal.aborted).toBe(false)
  })

  it('names blobs of the task', async () => {
    const { id, value } = await within(({ allocateBlob }) => [
      allocateBlob('report.pdf', { contentType: 'application/pdf' }),
      allocateBlob('pages/1/scan.png'),
    ])
    expect(value).toEqual([
      { storeName: 'blobs', key: `tasks/${id}/report.pdf`, contentType: 'application/pdf' },
      { storeName: 'blobs', key: `tasks/${id}/pages/1/scan.png` },
    ])
  })

  it.each(['', '/a', 'a/', 'a//b', '..', '../b', 'a/../../b', './a', 'a/.', undefined])(
    'T43 refuses the blob suffix %o',
    async (suffix) => {
      await expect(within(({ allocateBlob }) => allocateBlob(suffix as string))).rejects.toMatchObject({
        name: 'InvalidArgumentError',
        property: 'suffix',
      })
    },
  )

  it('T43 refuses a blob suffix that no store would take', async () => {
    await expect(within(({ allocateBlob }) => allocateBlob('a\0b'))).rejects.toThrow()
    await expect(within(({ allocateBlob }) => allocateBlob('x'.repeat(2_000)))).rejects.toThrow()
  })

  it('sleeps, and takes its listener off the signal', async () => {
    const { value } = await within(async ({ sleep, cancellationSignal }) => {
      const before = performance.now()
      for (let turn = 0; turn < 20; turn++) await sleep(1)
      return { ms: performance.now() - before, listeners: getEventListeners(cancellationSignal, 'abort').length }
    })
    expect(value.ms).toBeGreaterThan(15)
    expect(value.listeners).toBe(0)
  })

  it.each([-1, Number.NaN, '5'])('refuses to sleep for %o', async (ms) => {
    await expect(within(({ sleep }) => sleep(ms as number))).rejects.toMatchObject({ name: 'InvalidArgumentError' })
  })

  it('does not sleep when it has been told to stop already', async () => {
    const { core, adapter, register, submit } = setUpCore()
    const running = deferred()
    const told = deferred<unknown>()
    register(async ({ sleep, cancellationSignal }) => {
      running.resolve()
      await new Promise((resolve) => cancellationSignal.addEventListener('abort', resolve))
      await sleep(60_000).catch(told.resolve)
    })
    const { id } = await submit()
    const outcome = adapter.deliver(id)
    await running.promise
    await core.cancel(id, 'over')
    expect(await told.promise).toMatchObject({ name: 'TaskCancelledError', reason: 'over' })
    await outcome
  })

  it('sleeps longer than a timer reaches', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const { adapter, register, submit } = setUpCore({ reconcilerIntervalMs: Infinity, heartbeatIntervalMs: 1e12 })
      const running = deferred()
      let isOver = false
      const ms = 2 ** 31 + 1_000
      register(async ({ sleep }) => {
        const slept = sleep(ms)
        running.resolve()
        await slept
        isOver = true
      })
      const outcome = adapter.deliver((await submit()).id, { visibilityTimeoutMs: 1e13 })
      await running.promise
      await vi.advanceTimersByTimeAsync(2 ** 31 - 1)
      expect(isOver).toBe(false)
      await vi.advanceTimersByTimeAsync(1_001)
      expect(isOver).toBe(true)
      await outcome
    } finally {
      vi.useRealTimers()
    }
  })
})
