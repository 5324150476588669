import { inject } from 'vitest'

/** The URL of the Redis all tests of this run share. Throws with the reason if there is none. */
export const redisUrl = (): string => {
  const redis = inject('redis')
  if ('problem' in redis) throw new Error(redis.problem)
  return redis.url
}
