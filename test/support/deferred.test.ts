import { describe, expect, it } from 'vitest'
import { deferred } from './deferred.js'

describe('deferred', () => {
  it('resolves from outside', async () => {
    const { promise, resolve } = deferred<number>()
    resolve(1)
    expect(await promise).toBe(1)
  })

  it('rejects from outside', async () => {
    const { promise, reject } = deferred()
    reject(new Error('no'))
    await expect(promise).rejects.toThrow('no')
  })
})
