import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { ensureRedis } from './ensureRedis.js'
import { startRedisServer } from './startRedisServer.js'

/**
 * `tsx scripts/withRedis.ts -- command arguments…` runs a command with a Redis that exists for it alone, at
 * `REDIS_URL`, and ends with the exit code of the command.
 */
const [command, ...args] = process.argv.slice(process.argv[2] === '--' ? 3 : 2)

const run = (file: string, url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: 'inherit', env: { ...process.env, REDIS_URL: url } })
    // Handling them is what keeps this process alive until Redis is stopped. A terminal sends its interrupt to the
    // command as well, a supervisor does not, and a second one does no harm.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
  })

try {
  if (command === undefined) throw new Error('Usage: tsx scripts/withRedis.ts -- command arguments…')
  const source = await ensureRedis()
  const redis = source.kind === 'url' ? source : await startRedisServer()
  try {
    process.exitCode = await run(command, redis.url)
  } finally {
    await redis.stop()
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
