import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { deferred } from '../../../../test/support/deferred.js'
import { longTimeout } from '../../src/time/longTimeout.js'
import { Periodic } from '../../src/time/periodic.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const MONTH_MS = 30 * 86_400_000

describe('longTimeout', () => {
  it('T29 keeps delays beyond the reach of a timer', () => {
    const callback = vi.fn()
    longTimeout(callback, MONTH_MS)
    vi.advanceTimersByTime(MONTH_MS - 1)
    expect(callback).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(callback).toHaveBeenCalledOnce()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('can be cancelled, also after the first leg', () => {
    const callback = vi.fn()
    const cancel = longTimeout(callback, MONTH_MS)
    vi.advanceTimersByTime(2 ** 31)
    cancel()
    cancel()
    expect(vi.getTimerCount()).toBe(0)
    longTimeout(callback, Infinity)
    longTimeout(callback, -5)
    vi.advanceTimersByTime(0)
    expect(callback).toHaveBeenCalledOnce()
  })
})

describe('Periodic', () => {
  const make = (intervalMs: number, run: () => Promise<void>, immediately = false) => {
    const errors: unknown[] = []
    const periodic = new Periodic({ intervalMs, immediately, run, onError: (error) => errors.push(error) })
    return { periodic, errors }
  }

  it.each([Infinity, -Infinity, Number.NaN])('T29 is off with an interval of %d', async (intervalMs) => {
    const run = vi.fn(() => Promise.resolve())
    make(intervalMs, run, true)
    await vi.advanceTimersByTimeAsync(MONTH_MS)
    expect(run).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('T30 never runs twice at a time, and rests between the runs', async () => {
    const gate = deferred()
    const run = vi.fn(() => gate.promise)
    make(100, run)
    await vi.advanceTimersByTimeAsync(89)
    expect(run).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(run).toHaveBeenCalledOnce()
    gate.resolve()
    await vi.advanceTimersByTimeAsync(111)
    expect(run).toHaveBeenCalledTimes(2)
  })

  it('T28 goes on after a failure, and reports it', async () => {
    const { errors, periodic } = make(100, () => Promise.reject(new Error('away')), true)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(errors.length).toBeGreaterThan(5)
    periodic[Symbol.dispose]()
    const count = errors.length
    await vi.advanceTimersByTimeAsync(1_000)
    expect(errors).toHaveLength(count)
    expect(vi.getTimerCount()).toBe(0)
  })
})
