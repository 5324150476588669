import { realpathSync } from 'node:fs'
import { findOnPath } from './redis/findOnPath.js'
import { canInstallFromApt, installFromApt } from './redis/installFromApt.js'
import type { RedisLookups } from './redis/RedisLookups.js'
import type { RedisSource } from './redis/RedisSource.js'
import { startCompose } from './redis/startCompose.js'

const BINARIES = ['redis-server', 'valkey-server']

const machine: RedisLookups = {
  findOnPath,
  canInstall: canInstallFromApt,
  install: () => installFromApt('redis-server'),
  compose: startCompose,
  say: (line) => console.error(line),
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Finds a Redis for development and tests, by the first of these that works: a server binary on `PATH`, the
 * distribution's package (installed only as root, with no service started), the service of `docker-compose.yml`.
 * Rejects with one line that says what to do if there is none.
 */
export const ensureRedis = async (lookups: RedisLookups = machine): Promise<RedisSource> => {
  const findBinary = (): RedisSource | undefined => {
    const path = BINARIES.map((name) => lookups.findOnPath(name)).find((found) => found !== undefined)
    return path === undefined ? undefined : { kind: 'binary', path }
  }
  const failures: string[] = []

  const present = findBinary()
  if (present) return present

  if (lookups.canInstall()) {
    lookups.say('No Redis server on PATH: installing the distribution’s redis-server package (no service is started).')
    try {
      await lookups.install()
      const installed = findBinary()
      if (installed) return installed
      failures.push('the redis-server package brought no binary on PATH')
    } catch (error) {
      failures.push(`apt-get: ${reasonOf(error)}`)
    }
  }

  try {
    const composed = await lookups.compose()
    if (composed) return composed
  } catch (error) {
    failures.push(`docker compose: ${reasonOf(error)}`)
  }

  const tried = failures.length === 0 ? '' : ` (tried: ${failures.join('; ')})`
  throw new Error(
    `No Redis found${tried}: put redis-server or valkey-server on PATH, start a Docker engine, or set REDIS_URL.`,
  )
}

// Run as a script: the binary or the URL is the only thing on stdout, so that a shell can use it.
if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename) {
  try {
    const source = await ensureRedis()
    console.log(source.kind === 'binary' ? source.path : source.url)
  } catch (error) {
    console.error(reasonOf(error))
    process.exitCode = 1
  }
}
