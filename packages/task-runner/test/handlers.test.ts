import { describe, expect, it } from 'vitest'

import {
  calculateBackoff,
  DEFAULT_RETENTION_POLICY,
  DEFAULT_RETRY_POLICY,
  defineTaskHandler,
  isNonRetryableError,
  isSuspendedError,
  NonRetryableError,
  SuspendedError,
} from '../src/index.js'

const handler = () => Promise.resolve()

describe('defineTaskHandler', () => {
  it('fills in the defaults', () => {
    const descriptor = defineTaskHandler({ type: 'mail', version: 1, handler })
    expect(descriptor).toEqual({
      type: 'mail',
      version: 1,
      handler,
      retryPolicy: DEFAULT_RETRY_POLICY,
      retentionPolicy: DEFAULT_RETENTION_POLICY,
      cancelOnDrain: false,
      visibilityTimeoutMs: 60_000,
      progressThrottleMs: 250,
    })
    expect(Object.isFrozen(descriptor)).toBe(true)
  })

  it('merges policies member by member', () => {
    const { retryPolicy, retentionPolicy } = defineTaskHandler({
      type: 'mail',
      version: 1,
      handler,
      retryPolicy: { maxAttempts: 3 },
      retentionPolicy: { onFailure: 'delete-all' },
    })
    expect(retryPolicy).toEqual({ ...DEFAULT_RETRY_POLICY, maxAttempts: 3 })
    expect(retentionPolicy).toEqual({ ...DEFAULT_RETENTION_POLICY, onFailure: 'delete-all' })
  })

  it.each<[string, Record<string, unknown>]>([
    ['type', { type: '' }],
    ['version', { version: 0 }],
    ['handler', { handler: 'send' }],
    ['visibilityTimeoutMs', { visibilityTimeoutMs: 0 }],
    ['visibilityTimeoutMs', { visibilityTimeoutMs: Infinity }],
    ['progressThrottleMs', { progressThrottleMs: -1 }],
    ['attemptTimeoutMs', { attemptTimeoutMs: 0 }],
    ['retryPolicy.maxAttempts', { retryPolicy: { maxAttempts: 0 } }],
    ['retryPolicy.maxAttempts', { retryPolicy: { maxAttempts: 1.5 } }],
    ['retryPolicy.backoff', { retryPolicy: { backoff: 'quadratic' } }],
    ['retryPolicy.baseDelayMs', { retryPolicy: { baseDelayMs: -1 } }],
    ['retryPolicy.baseDelayMs', { retryPolicy: { baseDelayMs: Number.NaN } }],
    ['retryPolicy.jitter', { retryPolicy: { jitter: 2 } }],
    ['retentionPolicy.onFailure', { retentionPolicy: { onFailure: 'delete-intermediate' } }],
  ])('T41 T43 refuses %s in %o', (property, options) => {
    const make = () => defineTaskHandler({ type: 'm', version: 1, handler, ...options })
    expect(make).toThrow(expect.objectContaining({ name: 'InvalidArgumentError', property }))
  })
})

describe('calculateBackoff', () => {
  const policy = { maxAttempts: 9, backoff: 'exponential', baseDelayMs: 100, jitter: 0 } as const

  it('grows by its kind', () => {
    const delays = (more: object) => [1, 2, 3].map((attempt) => calculateBackoff({ ...policy, ...more }, attempt))
    expect(delays({})).toEqual([100, 200, 400])
    expect(delays({ backoff: 'linear' })).toEqual([100, 200, 300])
    expect(delays({ backoff: 'none' })).toEqual([0, 0, 0])
    expect(delays({ baseDelayMs: 0 })).toEqual([0, 0, 0])
  })

  it('deviates by its jitter', () => {
    const jittered = { ...policy, jitter: 0.5 }
    expect([0, 0.5, 0.999999].map((random) => calculateBackoff(jittered, 1, () => random))).toEqual([50, 100, 150])
    expect(calculateBackoff({ ...policy, jitter: 1 }, 1, () => 0)).toBe(0)
  })

  it('T41 stays within an hour, whatever the number of failures', () => {
    for (const attempt of [20, 1_000, 1e6]) {
      expect(calculateBackoff({ ...policy, jitter: 1 }, attempt, () => 0.999)).toBeLessThanOrEqual(3_600_000)
      expect(calculateBackoff(policy, attempt)).toBe(3_600_000)
    }
    expect(calculateBackoff({ ...policy, backoff: 'linear', baseDelayMs: 1e300 }, 1e300)).toBe(3_600_000)
  })
})

describe('marked errors', () => {
  it('T44 are known by their mark, also from another copy of the package', () => {
    const foreign = Object.assign(new Error('x'), { [Symbol.for('@furystack/task-runner/SuspendedError')]: true })
    expect(isSuspendedError(new SuspendedError(['a', 'b']))).toBe(true)
    expect(isSuspendedError(foreign)).toBe(true)
    for (const other of [new Error('x'), undefined, null, 'x', {}]) expect(isSuspendedError(other)).toBe(false)
    expect(new SuspendedError(['a'])).toMatchObject({ name: 'SuspendedError', awaitedChildIds: ['a'] })
  })

  it('T42 forbid a retry', () => {
    class AddressError extends NonRetryableError {}
    const foreign = Object.assign(new Error('x'), { [Symbol.for('@furystack/task-runner/NonRetryableError')]: true })
    for (const error of [new NonRetryableError('x'), new AddressError('x'), foreign]) {
      expect(isNonRetryableError(error)).toBe(true)
    }
    for (const other of [new Error('x'), undefined, 'x']) expect(isNonRetryableError(other)).toBe(false)
  })
})
