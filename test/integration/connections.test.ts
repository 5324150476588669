import { defineTaskHandler } from '@furystack/task-runner'
import { createClient } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'

import type { LaneEvent } from '../../src/index.js'
import { connectClient, redisUrl, uniquePrefix } from '../support/redis.js'
import { serverOfTest } from '../support/redisServer.js'
import { serviceOn, startService } from '../support/service.js'
import { until } from '../support/until.js'

const echo = defineTaskHandler({ type: 'echo', version: 1, handler: (_, payload: unknown) => payload })
const submission = (payload: unknown) => ({ type: 'echo', handlerVersion: 1, payload })

/** Longer than any test may take: whoever waited for the end of a block would not get there. */
const BLOCK_MS = 60_000

describe('connections', () => {
  it('do not make a command or an end wait for a reader that blocks', async () => {
    const serviceName = uniquePrefix('blocked').replaceAll(/\W/g, '-')
    const { runner, work, client, prefix, dispose } = await startService({ serviceName, blockTimeoutMs: BLOCK_MS })
    const lines = async (): Promise<string[]> =>
      (await client.sendCommand<string>(['CLIENT', 'LIST'])).split('\n').filter((line) => line.includes(serviceName))
    const blocked = async (): Promise<number> => (await lines()).filter((line) => line.includes('cmd=blpop')).length
    for (let n = 0; n < 3; n++) work([echo])
    await until(async () => (await blocked()) === 3, { description: 'three readers that block' })

    const task = await runner.submit(submission('a'))
    expect(await runner.waitFor(task.id, { timeoutMs: 15_000 })).toBe('a')
    const summary = await client.xPending(`${prefix}tasks:queue:echo:v1`, 'runner')
    expect(summary.pending).toBe(0)
    await until(async () => (await blocked()) === 3, {
      description: 'three readers that block again',
    })

    await dispose()
    await until(async () => (await lines()).length === 0, { description: 'no connection to be left' })
  })

  it('are not disturbed by the timers of the client that they are made from', async () => {
    const client = createClient({
      url: redisUrl(),
      commandOptions: { timeout: 30 },
      socket: { socketTimeout: 50 },
      pingInterval: 20,
    })
    client.on('error', () => undefined)
    await client.connect()
    onTestFinished(() => client.destroy())
    const { runner, work } = serviceOn(client, uniquePrefix('timers'), { blockTimeoutMs: 400 })
    const events: LaneEvent[] = []
    runner.events$.subscribe((event) => events.push(event))
    work([echo])
    const admin = await connectClient()
    // Several blocks of an idle worker, each longer than all of those timers.
    const repliesTo = async (command: string): Promise<number> =>
      Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await admin.info('commandstats'))?.[1] ?? 0)
    const before = await repliesTo('blpop')
    await until(async () => (await repliesTo('blpop')) >= before + 5, { description: 'five blocks' })
    const { id } = await runner.submit(submission('a'))
    expect(await runner.waitFor(id, { timeoutMs: 10_000 })).toBe('a')
    expect(events.filter(({ kind }) => kind === 'brokerError' || kind === 'connectionLost')).toEqual([])
  })

  it('and listeners do not grow with workers and waiters', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const serviceName = uniquePrefix('many').replaceAll(/\W/g, '-')
    const { runner, work, client } = await startService({ serviceName })
    const workers = Array.from({ length: 20 }, () => work([echo]))
    const { signal } = new AbortController()
    const results = Array.from({ length: 1_000 }, async (_, n) => {
      const { id } = await runner.submit(submission(n))
      return runner.waitFor(id, { signal, timeoutMs: 60_000 })
    })
    expect(await Promise.all(results)).toEqual(Array.from({ length: 1_000 }, (_, n) => n))
    await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()))
    const names = async (): Promise<number> =>
      (await client.sendCommand<string>(['CLIENT', 'LIST'])).split(`name=${serviceName}`).length - 1
    await until(async () => (await names()) === 1, { description: 'one connection to be left' })
    expect(warnings).toEqual([])
  })
})

describe('a server that may remove keys', () => {
  it('is told once, and one that may not is no event', async () => {
    const server = await serverOfTest()
    for (const policy of ['allkeys-lru', 'noeviction']) {
      const client = await connectClient({ url: server.url })
      await client.configSet('maxmemory-policy', policy)
      const { runner, work } = serviceOn(client, uniquePrefix('evict'))
      const events: LaneEvent[] = []
      runner.events$.subscribe((event) => events.push(event))
      work([echo])
      const { id } = await runner.submit(submission('a'))
      await runner.waitFor(id, { timeoutMs: 10_000 })
      const told = events.filter(({ kind }) => kind === 'evictionPossible')
      expect(told).toEqual(policy === 'noeviction' ? [] : [{ kind: 'evictionPossible', policy }])
    }
  })
})
