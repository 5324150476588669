import type { RedisSource } from './RedisSource.js'

/** What `ensureRedis` asks of the machine, so that a test can answer for a machine it does not have. */
export interface RedisLookups {
  /** The full path of an executable, or `undefined` if there is none of that name. */
  readonly findOnPath: (name: string) => string | undefined
  /** Whether packages can be installed here: root, and a machine with `apt-get`. */
  readonly canInstall: () => boolean
  /** Installs the distribution's `redis-server`; rejects with the reason if that fails. */
  readonly install: () => Promise<void>
  /** Starts the compose service, or gives `undefined` where there is no working engine. */
  readonly compose: () => Promise<Extract<RedisSource, { kind: 'url' }> | undefined>
  /** Tells the user, one line at a time. */
  readonly say: (line: string) => void
}
