import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectClient } from './redis.js'
import { startRedisServer, type RedisServerOptions } from './redisServer.js'
import { until } from './until.js'

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const start = async (options?: RedisServerOptions) => {
  const server = await startRedisServer(options)
  onTestFinished(server.stop)
  return server
}

const directoryOf = async (url: string): Promise<string> => {
  const client = await connectClient({ url })
  return (await client.configGet('dir'))['dir'] ?? ''
}

describe('startRedisServer', () => {
  it('starts a server that is ready, and ends it with its directory', async () => {
    const server = await start()
    const directory = await directoryOf(server.url)
    expect(existsSync(directory)).toBe(true)
    expect(isAlive(server.pid)).toBe(true)
    await server.stop()
    expect(isAlive(server.pid)).toBe(false)
    expect(existsSync(directory)).toBe(false)
    await expect(server.stop()).resolves.toBeUndefined()
  })

  it('takes more arguments', async () => {
    const server = await start({ args: ['--maxmemory', '7mb'] })
    const client = await connectClient({ url: server.url })
    expect(await client.configGet('maxmemory')).toMatchObject({ maxmemory: '7340032' })
  })

  it.each([
    { persistent: true, expected: 'kept' },
    { persistent: false, expected: null },
  ])('has $expected after kill and restart with persistent: $persistent', async ({ persistent, expected }) => {
    const server = await start({ persistent })
    const { pid } = server
    const before = await connectClient({ url: server.url })
    await before.set('key', 'kept')
    await server.kill()
    expect(isAlive(pid)).toBe(false)
    await server.restart()
    expect(server.pid).not.toBe(pid)
    const after = await connectClient({ url: server.url })
    expect(await after.get('key')).toBe(expected)
  })

  it('ends a server that is held by a signal', async () => {
    const server = await start()
    await server.kill('SIGSTOP')
    await server.stop()
    expect(isAlive(server.pid)).toBe(false)
  })

  it('rejects for a port that is taken, and for an argument the server does not know', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    await expect(startRedisServer({ port })).rejects.toThrow(`Port ${port} is taken`)
    await expect(startRedisServer({ args: ['--nonsense', 'yes'] })).rejects.toThrow(/ended with 1/)
  })

  it('does not leave the server behind when the process that started it is killed', async () => {
    const module = new URL('redisServer.ts', import.meta.url).href
    const code = `
      const { startRedisServer } = await import(${JSON.stringify(module)})
      const { pid, url } = await startRedisServer()
      console.log(JSON.stringify({ pid, url }))`
    const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void parent.kill('SIGKILL'))
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const { pid, url } = JSON.parse(line.toString()) as { pid: number; url: string }
    const directory = await directoryOf(url)

    parent.kill('SIGKILL')
    await until(() => !isAlive(pid), { description: 'the server has ended' })
    await until(() => !existsSync(directory), { description: 'its directory is gone' })
  })
})
