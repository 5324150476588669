import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { MemoryTaskStore } from '../src/index.js'
import { Maintenance } from '../src/runner/maintenance.js'
import type { MaintenanceJob } from '../src/runner/maintenanceJob.js'
import { overrideStore } from './support/overrideStore.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const INTERVAL_MS = 1_000
const MONTH_MS = 30 * 86_400_000

/** A process with one job, which counts its turns. */
const join = (store: MemoryTaskStore, job: Partial<MaintenanceJob> = {}) => {
  const errors: Array<{ operation: string; error: unknown }> = []
  const maintenance = new Maintenance({ store, report: (operation, error) => errors.push({ operation, error }) })
  const run = vi.fn(() => Promise.resolve())
  maintenance.add({ name: 'tidy', intervalMs: INTERVAL_MS, run, ...job })
  return { maintenance, run, errors, close: () => maintenance[Symbol.asyncDispose]() }
}

describe('Maintenance', () => {
  it('T30 does a job once an interval over all processes', async () => {
    const store = new MemoryTaskStore()
    const processes = Array.from({ length: 5 }, () => join(store))
    await vi.advanceTimersByTimeAsync(20 * INTERVAL_MS)
    const turns = processes.reduce((sum, { run }) => sum + run.mock.calls.length, 0)
    expect(turns).toBeGreaterThanOrEqual(18)
    expect(turns).toBeLessThanOrEqual(25)
    await Promise.all(processes.map(({ close }) => close()))
    expect(vi.getTimerCount()).toBe(0)
  })

  it('T30 never has two processes, nor two turns, in the same job', async () => {
    const store = new MemoryTaskStore()
    const gate = deferred()
    const run = vi.fn(async ({ keep }: { keep: () => Promise<boolean> }) => {
      // Longer than the role lasts by itself.
      for (let page = 0; page < 20; page++) {
        await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS / 10))
        expect(await keep()).toBe(true)
      }
      await gate.promise
    })
    const processes = Array.from({ length: 3 }, () => join(store, { run, immediately: true }))
    await vi.advanceTimersByTimeAsync(2.1 * INTERVAL_MS)
    expect(run).toHaveBeenCalledOnce()
    gate.resolve()
    expect(processes.flatMap(({ errors }) => errors)).toEqual([])
    await Promise.all(processes.map(({ close }) => close()))
  })

  it('T30 lets another process go on within an interval after one has died', async () => {
    const store = new MemoryTaskStore()
    // Its turn never ends, and it does not ask to keep the role.
    const dead = join(store, { run: () => new Promise(() => undefined), immediately: true })
    await vi.advanceTimersByTimeAsync(0)
    const other = join(store, { immediately: true })
    await vi.advanceTimersByTimeAsync(0)
    expect(other.run).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1.1 * INTERVAL_MS)
    expect(other.run).toHaveBeenCalledOnce()
    await other.close()
    const closing = dead.close()
    await vi.advanceTimersByTimeAsync(5_000)
    await closing
  })

  it('gives its roles back when it is disposed, and waits for the turn under way', async () => {
    const store = new MemoryTaskStore()
    const began = deferred()
    const asked: boolean[] = []
    const first = join(store, {
      intervalMs: MONTH_MS,
      immediately: true,
      run: async ({ keep }) => {
        asked.push(await keep())
        await began.promise
        asked.push(await keep())
      },
    })
    await vi.advanceTimersByTimeAsync(0)
    const closing = first.close()
    began.resolve()
    await closing
    expect(asked).toEqual([true, false])
    const next = join(store, { intervalMs: MONTH_MS, immediately: true })
    await vi.advanceTimersByTimeAsync(0)
    expect(next.run).toHaveBeenCalledOnce()
    await next.close()
  })

  it('T28 reports a job that fails, and a store that cannot say who has the role, and goes on', async () => {
    const away = new Error('away')
    const broken = new Error('broken')
    let isAway = true
    const memory = new MemoryTaskStore()
    const store = overrideStore(memory, {
      lead: (input) => (isAway ? Promise.reject(away) : memory.lead(input)),
      resign: () => Promise.reject(away),
    }) as MemoryTaskStore
    const { errors, close } = join(store, { run: () => Promise.reject(broken) })
    await vi.advanceTimersByTimeAsync(3 * INTERVAL_MS)
    expect(errors.length).toBeGreaterThanOrEqual(2)
    expect(errors.every(({ operation, error }) => operation === 'tidy' && error === away)).toBe(true)
    isAway = false
    await vi.advanceTimersByTimeAsync(2 * INTERVAL_MS)
    expect(errors.at(-1)).toEqual({ operation: 'tidy', error: broken })
    await close()
    const count = errors.length
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS)
    expect(errors).toHaveLength(count)
  })

  it('does what every process has to do for itself in each of them', async () => {
    const store = new MemoryTaskStore()
    const processes = [join(store, { isLocal: true }), join(store, { isLocal: true })]
    await vi.advanceTimersByTimeAsync(1.1 * INTERVAL_MS)
    for (const { run } of processes) expect(run).toHaveBeenCalledOnce()
    await Promise.all(processes.map(({ close }) => close()))
  })

  it('T29 is off with an infinite interval, and keeps one beyond the reach of a timer', async () => {
    const off = join(new MemoryTaskStore(), { intervalMs: Infinity, immediately: true })
    const rare = join(new MemoryTaskStore(), { intervalMs: 10 * MONTH_MS })
    await vi.advanceTimersByTimeAsync(8 * MONTH_MS)
    expect(off.run).not.toHaveBeenCalled()
    expect(rare.run).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(3 * MONTH_MS)
    expect(rare.run).toHaveBeenCalledOnce()
    await Promise.all([off.close(), rare.close()])
  })
})
