import { fileURLToPath } from 'node:url'
import type { RedisSource } from './RedisSource.js'
import { runCommand } from './runCommand.js'

const COMPOSE = ['compose', '-f', fileURLToPath(new URL('../../docker-compose.yml', import.meta.url))]

/** Starts the Redis of `docker-compose.yml`, or gives `undefined` where docker has no compose or no working engine. */
export const startCompose = async (): Promise<Extract<RedisSource, { kind: 'url' }> | undefined> => {
  const compose = (args: readonly string[], timeoutMs: number) =>
    runCommand('docker', [...COMPOSE, ...args], { timeoutMs })

  // `docker info` exits with 0 without an engine, but then it has no server version to print.
  const engine = await runCommand('docker', ['info', '--format', '{{.ServerVersion}}'], { timeoutMs: 15_000 })
  if (engine.code !== 0 || engine.stdout.trim() === '') return undefined
  const before = await compose(['ps', '--status', 'running', '--quiet', 'redis'], 15_000)
  if (before.code !== 0) return undefined
  const wasRunning = before.stdout.trim() !== ''

  const up = await compose(['up', '--detach', '--wait', 'redis'], 5 * 60_000)
  if (up.code !== 0) throw new Error(up.output.trim().split('\n').at(-1) ?? 'docker compose up failed')
  const address = await compose(['port', 'redis', '6379'], 15_000)
  if (address.code !== 0) throw new Error('docker compose does not say which port Redis has')

  return {
    kind: 'url',
    url: `redis://${address.stdout.trim()}`,
    stop: async () => {
      if (!wasRunning) await compose(['down', '--volumes'], 60_000)
    },
  }
}
