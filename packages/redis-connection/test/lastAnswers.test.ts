import { type RunHelpers, TestScheduler } from 'rxjs/testing'
import { describe, expect, it } from 'vitest'

import { lastAnswers, type RedisClient } from '../src/index.js'

const marbles = (test: (helpers: RunHelpers) => void): void => {
  new TestScheduler((actual, expected) => expect(actual).toEqual(expected)).run(test)
}

const clientThat = (close: () => Promise<void>): { client: RedisClient; calls: string[] } => {
  const calls: string[] = []
  const client = {
    close: () => {
      calls.push('close')
      return close()
    },
    destroy: () => void calls.push('destroy'),
  }
  return { client: client as unknown as RedisClient, calls }
}

const never = (): Promise<void> => new Promise(() => undefined)

describe('lastAnswers', () => {
  it('cuts what is not answered within half a second', () => {
    marbles(({ expectObservable, flush }) => {
      const { client, calls } = clientThat(never)
      expectObservable(lastAnswers(client)).toBe('500ms |')
      flush()
      expect(calls).toEqual(['close', 'destroy'])
    })
  })

  it('cuts at once when nobody waits any more', () => {
    marbles(({ expectObservable, flush }) => {
      const { client, calls } = clientThat(never)
      expectObservable(lastAnswers(client), '--!').toBe('---')
      flush()
      expect(calls).toEqual(['close', 'destroy'])
    })
  })

  it.each([
    ['all is answered', () => Promise.resolve()],
    ['the client was closed before', () => Promise.reject(new Error('closed'))],
  ])('completes as soon as %s', async (_, close) => {
    const { client, calls } = clientThat(close)
    await new Promise<void>((complete, error) => lastAnswers(client).subscribe({ complete, error }))
    expect(calls).toEqual(['close', 'destroy'])
  })

  it('does nothing before it is subscribed to', () => {
    const { client, calls } = clientThat(never)
    void lastAnswers(client)
    expect(calls).toEqual([])
  })
})
