import { describe, expect, it } from 'vitest'
import { connectClient, uniquePrefix } from './redis.js'

describe('redis', () => {
  it.each([5, 6] as const)('connects the client of major version %i', async (major) => {
    const client = await connectClient({ major })
    const key = `${uniquePrefix('support')}greeting`
    await client.set(key, 'hello', { EX: 10 })
    expect(await client.get(key)).toBe('hello')
  })

  it('closes the client when the test has finished, even one that waits for an answer', async () => {
    const closing: Array<() => void> = []
    const client = await connectClient({ onFinished: (close) => closing.push(close) })
    const answer = client.blPop(`${uniquePrefix('support')}never`, 0)
    expect(client.isOpen).toBe(true)
    closing.forEach((close) => close())
    await expect(answer).rejects.toThrow()
    expect(client.isOpen).toBe(false)
    expect(() => closing.forEach((close) => close())).not.toThrow()
  })

  it('never gives the same prefix twice', () => {
    expect(uniquePrefix('a')).toMatch(/^t:a:[0-9a-f]{8}\/$/)
    expect(uniquePrefix('a')).not.toBe(uniquePrefix('a'))
  })
})
