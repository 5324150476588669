import { describe, expect, it } from 'vitest'
import { until } from './until.js'

describe('until', () => {
  it('gives the first truthy answer', async () => {
    const answers = [0, '', Promise.resolve(undefined), Promise.resolve('yes'), 'too late']
    expect(await until(() => answers.shift(), { intervalMs: 1 })).toBe('yes')
  })

  it('takes an error for "not yet"', async () => {
    let calls = 0
    const answer = until(
      () => {
        if (++calls < 3) throw new Error('down')
        return calls
      },
      { intervalMs: 1 },
    )
    expect(await answer).toBe(3)
  })

  it('says what it waited for and what it saw last', async () => {
    const options = { timeoutMs: 20, intervalMs: 1, description: 'the list is empty' }
    await expect(until(() => null, options)).rejects.toThrow(
      'Timed out after 20 ms waiting until the list is empty (last seen: null)',
    )
    const cause = new Error('down')
    await expect(until(() => Promise.reject(cause), options)).rejects.toMatchObject({
      message: expect.stringContaining('last error: down') as string,
      cause,
    })
  })

  it('does not wait longer for a predicate that never answers', async () => {
    const never = new Promise<boolean>(() => undefined)
    await expect(until(() => never, { timeoutMs: 20 })).rejects.toThrow('Timed out after 20 ms')
  })
})
