import type { TestProject } from 'vitest/node'
import { ensureRedis } from '../../scripts/ensureRedis.js'
import { startRedisServer } from './redisServer.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The Redis all tests share, or why there is none. */
    redis: { readonly url: string } | { readonly problem: string }
  }
}

const find = async (): Promise<{ url: string; stop: () => Promise<void> }> => {
  const url = process.env['REDIS_URL']
  if (url) return { url, stop: () => Promise.resolve() }
  const source = await ensureRedis()
  return source.kind === 'url' ? source : await startRedisServer()
}

/**
 * Gives the tests one Redis: the one of `REDIS_URL`, or one that is started for this run and ends with it. Without any
 * the run goes on, because most tests need none; those that do fail with the reason.
 */
export const setup = async ({ provide }: Pick<TestProject, 'provide'>): Promise<() => Promise<void>> => {
  try {
    const { url, stop } = await find()
    provide('redis', { url })
    return stop
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    console.error(problem)
    provide('redis', { problem })
    return () => Promise.resolve()
  }
}
