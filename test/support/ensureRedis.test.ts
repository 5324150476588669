import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ensureRedis } from '../../scripts/ensureRedis.js'
import { findOnPath } from '../../scripts/redis/findOnPath.js'
import type { RedisLookups } from '../../scripts/redis/RedisLookups.js'
import { withoutServiceStart } from '../../scripts/redis/withoutServiceStart.js'

const composed = { kind: 'url', url: 'redis://127.0.0.1:6379', stop: () => Promise.resolve() } as const

/** A machine that has nothing, apart from what is given; `calls` tells what was asked of it. */
const machineWith = (parts: Partial<RedisLookups>) => {
  const calls: string[] = []
  const lookups: RedisLookups = {
    findOnPath: () => undefined,
    canInstall: () => false,
    install: () => Promise.resolve(),
    compose: () => Promise.resolve(undefined),
    say: (line) => calls.push(line),
    ...parts,
  }
  return { calls, lookups }
}

const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'ensure-redis-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

describe('ensureRedis', () => {
  it.each(['redis-server', 'valkey-server'])('takes %s from PATH and does nothing else', async (binary) => {
    const { calls, lookups } = machineWith({
      findOnPath: (name) => (name === binary ? `/bin/${name}` : undefined),
      canInstall: () => true,
      install: () => Promise.reject(new Error('must not be called')),
    })
    expect(await ensureRedis(lookups)).toEqual({ kind: 'binary', path: `/bin/${binary}` })
    expect(calls).toEqual([])
  })

  it('installs the package where it can, and says so in one line', async () => {
    let installed = false
    const { calls, lookups } = machineWith({
      findOnPath: (name) => (installed ? `/usr/bin/${name}` : undefined),
      canInstall: () => true,
      install: () => {
        installed = true
        return Promise.resolve()
      },
    })
    expect(await ensureRedis(lookups)).toEqual({ kind: 'binary', path: '/usr/bin/redis-server' })
    expect(calls).toEqual([expect.stringContaining('installing')])
  })

  it('falls back to compose, also when the package cannot be installed', async () => {
    const compose = () => Promise.resolve(composed)
    expect(await ensureRedis(machineWith({ compose }).lookups)).toBe(composed)
    const install = () => Promise.reject(new Error('no network'))
    expect(await ensureRedis(machineWith({ compose, canInstall: () => true, install }).lookups)).toBe(composed)
  })

  it('says in one line what it tried and what to do if there is no way', async () => {
    const { lookups } = machineWith({
      canInstall: () => true,
      install: () => Promise.reject(new Error('no network')),
      compose: () => Promise.reject(new Error('no image')),
    })
    const problem = await ensureRedis(lookups).catch((error: Error) => error.message)
    expect(problem).toBe(
      'No Redis found (tried: apt-get: no network; docker compose: no image): ' +
        'put redis-server or valkey-server on PATH, start a Docker engine, or set REDIS_URL.',
    )
  })
})

describe('findOnPath', () => {
  it('finds executables only', () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'tool'), '', { mode: 0o755 })
    writeFileSync(join(directory, 'text'), '', { mode: 0o644 })
    expect(findOnPath('tool', `/nowhere:${directory}`)).toBe(join(directory, 'tool'))
    expect(findOnPath('text', directory)).toBeUndefined()
    expect(findOnPath('tool', '')).toBeUndefined()
  })
})

describe('withoutServiceStart', () => {
  it('forbids starting services meanwhile, and leaves nothing behind', async () => {
    const policy = join(temporaryDirectory(), 'policy-rc.d')
    await withoutServiceStart(async () => {
      expect(readFileSync(policy, 'utf8')).toContain('exit 101')
      expect(statSync(policy).mode & 0o111).toBe(0o111)
      await Promise.resolve()
    }, policy)
    expect(existsSync(policy)).toBe(false)
  })

  it('puts back the policy the machine had, also after a failure', async () => {
    const directory = temporaryDirectory()
    const policy = join(directory, 'policy-rc.d')
    writeFileSync(policy, 'the machine’s own', { mode: 0o700 })
    const action = () => Promise.reject(new Error('failed'))
    await expect(withoutServiceStart(action, policy)).rejects.toThrow('failed')
    expect(readFileSync(policy, 'utf8')).toBe('the machine’s own')
    expect(statSync(policy).mode & 0o777).toBe(0o700)
    expect(readdirSync(directory)).toEqual(['policy-rc.d'])
  })
})
