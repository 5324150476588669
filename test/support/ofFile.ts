import { afterAll, beforeAll } from 'vitest'

import type { OnFinished } from './redisServer.js'

/** Starts something once for all tests of a file; it ends with the last of them. */
export const ofFile = <T>(start: (onFinished: OnFinished) => Promise<T>, timeoutMs = 60_000): (() => T) => {
  let started: { readonly value: T } | undefined
  const ends: Array<() => void | Promise<void>> = []
  beforeAll(async () => {
    started = { value: await start((end) => void ends.unshift(end)) }
  }, timeoutMs)
  afterAll(async () => {
    for (const end of ends) await end()
  }, timeoutMs)
  return () => {
    if (started === undefined) throw new Error('Only to be called within a test')
    return started.value
  }
}
