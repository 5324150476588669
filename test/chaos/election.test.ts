import { describe, expect, it } from 'vitest'

import { keys } from '../../src/keys/keys.js'
import { connectClient, type TestClient } from '../support/redis.js'
import { type Service, startService } from '../support/service.js'
import { serverOfTest } from '../support/redisServer.js'
import { until } from '../support/until.js'
import { startWorkerProcess, type WorkerProcess } from '../support/workerProcess.js'

const INTERVAL_MS = 1_000
const ROLE = 'expire'
const LIMIT = { timeoutMs: 20_000 }

/** Two processes that do the periodic work of a service which does none itself, and a look at who does it. */
const setUp = async () => {
  const { url } = await serverOfTest()
  const service = await startService({ url, expiryIntervalMs: Infinity, maintenanceIntervalMs: Infinity })
  const { client, prefix } = service
  const leader = keys(prefix).leader(ROLE)
  const addresses = await watchHolders(url, leader)
  const processes = await Promise.all(
    ['one', 'other'].map(async (serviceName) => {
      const options = { serviceName, expiryIntervalMs: INTERVAL_MS }
      return { serviceName, ...(await startWorkerProcess({ url, prefix, concurrency: 1, options })) }
    }),
  )
  /** Waits until one of the two has the role, for so long at least. */
  const elected = async (forMs = 0) => {
    const holder = await until(async () => {
      const [held, leftMs] = await Promise.all([client.get(leader), client.pTTL(leader)])
      return held !== null && leftMs > forMs && addresses.has(held) && held
    }, LIMIT)
    const connections = (await client.sendCommand(['CLIENT', 'LIST'])) as unknown as string
    const line = connections.split('\n').find((each) => each.includes(` addr=${addresses.get(holder) ?? ''} `)) ?? ''
    const process = processes.find(({ serviceName }) => line.includes(` name=${serviceName}:`))
    const other = processes.find((each) => each !== process)
    if (process === undefined || other === undefined) throw new Error(`Nobody of these: ${line}`)
    return { process, other, holder }
  }
  return { service, leader, elected }
}

/** Finds out from where each holder of a role asks for it. */
const watchHolders = async (url: string, leader: string): Promise<ReadonlyMap<string, string>> => {
  const addresses = new Map<string, string>()
  const monitor: TestClient = await connectClient({ url })
  await monitor.monitor((line) => {
    const [, address = '', rest = ''] = /\[\d+ ([\d.]+:\d+)\] "EVALSHA"(.*)/.exec(String(line)) ?? []
    const words = rest.split('"').filter((_, index) => index % 2 === 1)
    if (words[2] === leader) addresses.set(words[3] ?? '', address)
  })
  return addresses
}

/** Tasks that nobody runs, and that have to be failed by whoever does the periodic work. */
const submitOverdue = async ({ runner }: Service, count: number, inMs: number): Promise<string[]> => {
  const startBefore = new Date(Date.now() + inMs)
  const task = { type: 'nobody', handlerVersion: 1, payload: 0, startBefore }
  return (await runner.submitMany(Array.from({ length: count }, () => task))).map(({ id }) => id)
}

const expired = (service: Service): Promise<number> => service.runner.deadLetters.count({ type: 'nobody' })

const end = (worker: WorkerProcess): Promise<void> => worker.kill('SIGKILL')

describe('of two processes that could do the periodic work', () => {
  it('the other does it when the one that did is killed, as soon as the role has ended', async () => {
    const { service, leader, elected } = await setUp()
    // It dies with the role, not after it.
    const { process, other, holder } = await elected(INTERVAL_MS / 4)
    await end(process)
    expect(await service.client.get(leader)).toBe(holder)
    await submitOverdue(service, 3, 100)
    await until(async () => (await expired(service)) === 3, LIMIT)
    const next = await elected()
    expect(next.process.serviceName).toBe(other.serviceName)
    expect(next.holder).not.toBe(holder)
  }, 60_000)

  it('one that is stopped in the midst of its work, and goes on after the other has done it, does no harm', async () => {
    const COUNT = 5_000
    const { service, elected } = await setUp()
    const ids = await submitOverdue(service, COUNT, 4 * INTERVAL_MS)
    // Whoever begins; by then it may be the other one.
    await until(async () => (await expired(service)) > 0, { ...LIMIT, intervalMs: 1 })
    const { process, other, holder } = await elected()
    process.child.kill('SIGSTOP')
    await until(async () => (await expired(service)) === COUNT, LIMIT)
    expect((await elected()).process.serviceName).toBe(other.serviceName)
    process.child.kill('SIGCONT')
    // It asks for its role again, and has missed nothing that it would repeat.
    await submitOverdue(service, 10, 100)
    await until(async () => (await expired(service)) === COUNT + 10, LIMIT)
    await end(other)
    await until(async () => (await elected()).holder === holder, LIMIT)
    for (const task of await Promise.all(ids.map((id) => service.runner.get(id)))) {
      expect(task).toMatchObject({ status: 'failed', error: { name: 'TaskExpiredError' }, attempts: [] })
      expect(task?.events.map(({ kind }) => kind)).toEqual(['submitted'])
    }
  }, 60_000)
})
