import { setTimeout as delay } from 'node:timers/promises'

import { describe, expect, it } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { until } from '../../../test/support/until.js'
import { MemoryTaskStore, type ExtendAttempt, type TaskContext } from '../src/index.js'
import { overrideStore } from './support/overrideStore.js'
import { handle, setUpCore } from './support/setUpCore.js'

/** A store that writes down the progress it is given, and can be slow. */
const watch = (before: () => Promise<void> = () => Promise.resolve()) => {
  const memory = new MemoryTaskStore()
  const written: Array<NonNullable<ExtendAttempt['progress']>> = []
  let open = 0
  let most = 0
  const store = overrideStore(memory, {
    extendAttempt: async (input) => {
      most = Math.max(most, ++open)
      try {
        await before()
        if (input.progress) written.push(input.progress)
        return await memory.extendAttempt(input)
      } finally {
        open--
      }
    },
  })
  return { store, written, most: () => most }
}

describe('progress', () => {
  it('T37 writes the first report and the last, however many there are', async () => {
    const { store, written } = watch()
    const { adapter, register, submit, read } = setUpCore({ store })
    register([
      handle(
        async ({ reportProgress }) => {
          for (let percent = 1; percent <= 100; percent++) reportProgress({ percent })
          return Promise.resolve()
        },
        { progressThrottleMs: Infinity },
      ),
    ])
    const { id } = await submit()
    await adapter.deliver(id)
    expect(written).toEqual([{ percent: 1 }, { percent: 100 }])
    expect((await read(id)).progress?.percent).toBe(100)
  })

  it('T37 writes the latest report after each interval', async () => {
    const { store, written } = watch()
    const { adapter, register, submit, telemetry } = setUpCore({ store })
    const told: number[] = []
    telemetry.addListener('onTaskProgress', ({ percent }) => told.push(percent))
    const gate = deferred()
    register([
      handle(
        async ({ reportProgress }) => {
          reportProgress({ percent: 1 })
          reportProgress({ percent: 2 })
          reportProgress({ percent: 3 })
          await gate.promise
        },
        { progressThrottleMs: 60 },
      ),
    ])
    const outcome = adapter.deliver((await submit()).id)
    await until(() => told.length === 2)
    gate.resolve()
    await outcome
    expect(written).toEqual([{ percent: 1 }, { percent: 3 }])
    expect(told).toEqual([1, 3])
  })

  it('T37 does not hold back heartbeats', async () => {
    let beats = 0
    const { store } = watch(() => Promise.resolve(void beats++))
    const { adapter, register, submit } = setUpCore({ store })
    register([
      handle(
        async ({ reportProgress, sleep }) => {
          reportProgress({ percent: 1 })
          await sleep(500)
        },
        { progressThrottleMs: Infinity, visibilityTimeoutMs: 150 },
      ),
    ])
    expect(await adapter.deliver((await submit()).id)).toEqual({ kind: 'success' })
    expect(beats).toBeGreaterThan(3)
  })

  it('T38 writes one report after the other, and none after the end', async () => {
    const { store, written, most } = watch(() => delay(20))
    const { adapter, register, submit, read } = setUpCore({ store })
    let late: TaskContext<unknown>['reportProgress'] | undefined
    register([
      handle(
        async ({ reportProgress }) => {
          late = reportProgress
          for (let percent = 1; percent <= 5; percent++) {
            reportProgress({ percent })
            await delay(5)
          }
        },
        { progressThrottleMs: 0 },
      ),
    ])
    const { id } = await submit()
    await adapter.deliver(id)
    late?.({ percent: 99 })
    await delay(50)
    expect(most()).toBe(1)
    expect(written.at(-1)).toEqual({ percent: 5 })
    expect(await read(id)).toMatchObject({ status: 'succeeded', progress: { percent: 5 } })
  })

  it('never throws: what cannot be stored is reported', async () => {
    const { store } = watch(() => Promise.reject(new Error('the store is away')))
    const { adapter, register, submit, read, errors } = setUpCore({ store })
    register(async ({ reportProgress }) => {
      reportProgress({ percent: Number.NaN })
      reportProgress({ percent: 1, meta: 10n })
      reportProgress(undefined as never)
      reportProgress({ percent: 50 })
      return Promise.resolve('done')
    })
    const { id } = await submit()
    expect(await adapter.deliver(id)).toEqual({ kind: 'success' })
    expect((await read(id)).result).toBe('done')
    expect(errors.filter(({ operation }) => operation === 'progress')).toHaveLength(3)
    expect(errors.filter(({ operation }) => operation === 'heartbeat').length).toBeGreaterThan(0)
  })

  it('does not press a store in trouble', async () => {
    let writes = 0
    const { store } = watch(() => Promise.reject(new Error(`trouble ${++writes}`)))
    const { adapter, register, submit } = setUpCore({ store })
    register([
      handle(
        async ({ reportProgress, sleep }) => {
          reportProgress({ percent: 1 })
          await sleep(300)
        },
        { progressThrottleMs: 0 },
      ),
    ])
    await adapter.deliver((await submit()).id)
    expect(writes).toBeLessThan(5)
  })

  it('carries what the handler adds', async () => {
    const { adapter, register, submit, telemetry, core } = setUpCore()
    const told: unknown[] = []
    const updates: unknown[] = []
    telemetry.addListener('onTaskProgress', (event) => told.push(event))
    register(({ reportProgress }) => Promise.resolve(reportProgress({ percent: 7.5, meta: { step: 'a' } })))
    const { id } = await submit()
    using _subscription = core.subscribe(id, (update) => updates.push(update))
    await adapter.deliver(id)
    expect(told).toEqual([{ taskId: id, percent: 7.5, meta: { step: 'a' } }])
    expect(updates).toContainEqual({
      kind: 'progress',
      taskId: id,
      percent: 7.5,
      meta: { step: 'a' },
      at: expect.any(String) as string,
    })
  })
})
