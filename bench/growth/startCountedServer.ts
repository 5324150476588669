import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

import { ensureRedis } from '../../scripts/ensureRedis.js'
import { startRedisServer } from '../../scripts/startRedisServer.js'

/** A Redis server under callgrind. */
export interface CountedServer extends AsyncDisposable {
  readonly host: string
  readonly port: number
  /** Counts from now on, and is fifty times as slow. */
  count(): void
  /** How many instructions the server has executed since. */
  counted(): number
}

/** Starts a Redis server whose instructions can be counted. `CALLGRIND_OUT` names a file that keeps where they went. */
export const startCountedServer = async (): Promise<CountedServer> => {
  const source = await ensureRedis()
  if (source.kind !== 'binary') throw new Error('To count instructions takes a redis-server on PATH, and valgrind.')
  const directory = await mkdtemp(join(tmpdir(), 'counted-redis-'))
  const path = process.env['PATH'] ?? ''
  const out = process.env['CALLGRIND_OUT'] ?? join(directory, 'callgrind.out')
  const command = `valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=${out} ${source.path}`
  await writeFile(join(directory, 'redis-server'), `#!/bin/sh\nexec ${command} "$@"\n`)
  await chmod(join(directory, 'redis-server'), 0o755)
  // Whoever starts a server takes the first one.
  process.env['PATH'] = [directory, path].join(delimiter)
  const server = await startRedisServer().finally(() => {
    process.env['PATH'] = path
  })
  const control = (...args: string[]): string =>
    execFileSync('callgrind_control', [...args, String(server.pid)], { encoding: 'utf8' })
  return {
    host: server.host,
    port: server.port,
    count: () => void control('--instr=on'),
    counted: () => Number(/^\s*Th 1\s+([\d,]+)/m.exec(control('-e'))?.[1]?.replaceAll(',', '')),
    [Symbol.asyncDispose]: async () => {
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
