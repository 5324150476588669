import { BlobStore, InMemoryBlobStore } from '@furystack/blob-store'
import { createInjector } from '@furystack/inject'
import { defineTaskHandler, type JointSteps, TaskRunner } from '@furystack/task-runner'
import { lastValueFrom, type Observable } from 'rxjs'
import { describe, expect, it, onTestFinished } from 'vitest'

import { redisQueueAdapter } from '../../src/adapter/redisQueueAdapter.js'
import { defineRedisTaskRunner, RedisRefusedError } from '../../src/index.js'
import { keys } from '../../src/keys/keys.js'
import { lane } from '../../src/keys/lane.js'
import type { LanePort } from '../../src/port/lanePort.js'
import { redisLanePort } from '../../src/redis/redisLanePort.js'
import { Turns } from '../../src/redis/turns.js'
import { connectTo } from '../support/connectTo.js'
import { connectClient, uniquePrefix } from '../support/redis.js'
import { serverOfTest } from '../support/redisServer.js'
import { startService } from '../support/service.js'
import { until } from '../support/until.js'

const ask = <T>(reply$: Observable<T>): Promise<T | undefined> => lastValueFrom(reply$, { defaultValue: undefined })
const mail = lane('mail', 1)

/** A port whose claims begin attempts, and the joint steps beside it, on connections that end with the test. */
const jointPort = async (): Promise<{ port: LanePort; joint: JointSteps; prefix: string }> => {
  const client = await connectClient()
  const prefix = uniquePrefix('recovery')
  const commands = connectTo(client)
  const adapter = redisQueueAdapter({ client, serviceName: 'test', topicPrefix: prefix })
  const joint = adapter.joint?.(adapter.store)
  if (!joint) throw new Error('the adapter has no joint steps for its own store')
  onTestFinished(async () => {
    await adapter[Symbol.asyncDispose]()
    await commands[Symbol.asyncDispose]()
  })
  return {
    port: redisLanePort({
      commands,
      turns: new Turns(commands, keys(prefix), { group: 'runner', isJoint: true }),
      reader: commands,
      keys: keys(prefix),
      group: 'runner',
      isJoint: true,
      idempotencyTtlSec: 60,
    }),
    joint,
    prefix,
  }
}

const pending = {
  type: 'mail',
  handlerVersion: 1,
  status: 'pending',
  tags: [],
  retentionPolicy: { onSuccess: 'keep', onFailure: 'keep', ttlAfterTerminalDays: 30 },
} as const

const read = (port: LanePort, slot: string, visibilityTimeoutMs = 60_000) =>
  ask(port.read({ workerId: 'w', slots: [slot], lanes: [{ lane: mail, visibilityTimeoutMs }] }))

describe('a claim whose attempt has begun', () => {
  it('is put back together with its row, so that the next reader may run it', async () => {
    const { port, joint } = await jointPort()
    await joint.submit({ id: 'a', ...pending })
    const claim = (await read(port, 'w-slot-0'))?.claims[0]
    expect(claim?.begun?.kind).toBe('begun')

    expect(claim && (await ask(port.settle(claim, { kind: 'requeue' })))).toBe('settled')
    const again = (await read(port, 'w-slot-1'))?.claims[0]
    expect(again).toMatchObject({ taskId: 'a', begun: { kind: 'begun', attempt: 2 } })
  })

  it('outlives a second entry of its task, which comes back when the lease is over', async () => {
    const { port, joint } = await jointPort()
    await joint.submit({ id: 'a', ...pending })
    await read(port, 'w-slot-0', 300)
    await ask(port.enqueue({ taskId: 'a', lane: mail }))

    // The owner is alive as far as anybody knows, so the second entry waits in the schedule.
    expect((await read(port, 'w-slot-1', 300))?.claims).toEqual([])
    const promoted = await until(
      async () => {
        const reply = await ask(port.promote({ promoterId: 'w', roleMs: 1_000, limit: 10 }))
        return reply?.moved === 1
      },
      { description: 'the lease to be over' },
    )
    expect(promoted).toBe(true)
    expect((await read(port, 'w-slot-1', 300))?.claims[0]).toMatchObject({ taskId: 'a', begun: { kind: 'begun' } })
  })

  it('is recovered after its group was lost and its worker died', async () => {
    const { port, joint, prefix } = await jointPort()
    const client = await connectClient()
    await joint.submit({ id: 'a', ...pending })
    await read(port, 'w-slot-0', 300)
    await client.xGroupDestroy(`${prefix}tasks:queue:mail:v1`, 'runner')

    await until(
      async () => {
        await ask(port.promote({ promoterId: 'w', roleMs: 1_000, limit: 10 }))
        return (await read(port, 'w-slot-1', 300))?.claims.length === 1
      },
      { description: 'the task to be claimed again' },
    )
  })
})

describe('what cannot be read', () => {
  it('does not take its neighbours with it', async () => {
    const { port, joint, prefix } = await jointPort()
    const client = await connectClient()
    await joint.submit({ id: 'bad', ...pending })
    await joint.submit({ id: 'good', ...pending })
    await client.hSet(`${prefix}tasks:row:bad`, 'p', '{not JSON')
    const lanes = [{ lane: mail, visibilityTimeoutMs: 60_000 }]
    const reply = await ask(port.read({ workerId: 'w', slots: ['w-slot-0', 'w-slot-1'], lanes }))
    expect(reply?.claims.map(({ taskId, begun }) => [taskId, begun?.kind])).toEqual([
      ['bad', 'refused'],
      ['good', 'begun'],
    ])
  })

  it('or cannot be written to is no obstacle for other parked tasks', async () => {
    const { port, prefix } = await jointPort()
    const client = await connectClient()
    await client.set(`${prefix}tasks:queue:odd:v1`, 'not a stream')
    const soon = Date.now() + 150
    await ask(port.enqueue({ taskId: 'odd', lane: lane('odd', 1), notBefore: soon }))
    await ask(port.enqueue({ taskId: 'fine', lane: mail, notBefore: soon + 1 }))
    await until(
      async () => {
        await ask(port.promote({ promoterId: 'w', roleMs: 1_000, limit: 10 }))
        return (await client.xLen(`${prefix}tasks:queue:mail:v1`)) === 1
      },
      { description: 'the other task to be promoted' },
    )
    expect(await client.zCard(`${prefix}tasks:scheduler`)).toBe(1)
  })
})

describe('a sweep', () => {
  it('remembers what it saw first over a walk of several steps', async () => {
    const { port } = await jointPort()
    const total = 1_100
    const slots = Array.from({ length: total }, (_, n) => `v-slot-${String(n)}`)
    for (let n = 0; n < total; n++) await ask(port.enqueue({ taskId: `t${String(n)}`, lane: mail }))
    const lanes = [{ lane: mail, visibilityTimeoutMs: 60_000 }]
    const claimed = await ask(port.read({ workerId: 'v', slots, lanes }))
    expect(claimed?.claims.length).toBe(total)

    const first = await ask(port.sweep({ workerId: 'w', slots: ['w-slot-0'], lanes }))
    expect(first?.positions.get(mail.name)).not.toBe('-')
    expect(first?.nextStaleMs).toBeGreaterThan(0)
    const second = await ask(
      port.sweep({ workerId: 'w', slots: ['w-slot-0'], lanes, ...(first && { positions: first.positions }) }),
    )
    expect(second?.positions.get(mail.name)).toBe('-')
  }, 30_000)
})

describe('an error in the midst of a script', () => {
  it('does not claim that nothing happened', () => {
    const inScript = "NOPERM User w has no permissions to run the 'xgroup' command script: 1f, on @user_script:20."
    expect(new RedisRefusedError('submit', inScript).effect).toBe('unknown')
    const full = "OOM command not allowed when used memory > 'maxmemory'. script: 1f, on @user_script:9."
    expect(new RedisRefusedError('submit', full).effect).toBe('excluded')
    expect(new RedisRefusedError('submit', 'LOADING Redis is loading the dataset in memory').effect).toBe('excluded')
  })
})

describe('connections', () => {
  const connected = async (client: Awaited<ReturnType<typeof connectClient>>, name: string): Promise<number> =>
    (await client.sendCommand<string>(['CLIENT', 'LIST'])).split(`name=${name}`).length - 1

  it('that are dropped while they are being opened do not stay', async () => {
    const server = await serverOfTest()
    const client = await connectClient({ url: server.url })
    for (let n = 0; n < 10; n++) {
      const connection = connectTo(client, { deadlineMs: 1_000, name: 'dropped' })
      if (n % 2) connection.replace()
      await connection[Symbol.asyncDispose]()
    }
    await until(async () => (await connected(client, 'dropped')) === 0, {
      description: 'all of them to be gone',
    })
  })

  it('are not left behind by a runner that could not be made', async () => {
    const server = await serverOfTest()
    const client = await connectClient({ url: server.url })
    const injector = createInjector()
    injector.bind(BlobStore, () => new InMemoryBlobStore())
    injector.bind(
      TaskRunner,
      defineRedisTaskRunner({ client, serviceName: 'stillborn', heartbeatIntervalMs: 0, capabilityCheck: 'off' }),
    )
    expect(() => injector.get(TaskRunner)).toThrow(/heartbeatIntervalMs/)
    await until(async () => (await connected(client, 'stillborn')) === 0, {
      description: 'none to be left',
    })
  })

  it('survive an event loop that stands still for longer than the deadline', async () => {
    const service = await startService({ commandDeadlineMs: 200 })
    await service.runner.submit({ type: 'mail', payload: 0, handlerVersion: 1 })
    const lost: string[] = []
    service.runner.events$.subscribe((event) => lost.push(event.kind))
    const submitting = service.runner.submit({ type: 'mail', payload: 1, handlerVersion: 1 })
    await new Promise((resolve) => setImmediate(resolve))
    const endAt = performance.now() + 600
    while (performance.now() < endAt);
    expect((await submitting).status).toBe('pending')
    expect(lost).not.toContain('connectionLost')
  })
})

describe('a worker that stops while Redis is away', () => {
  it('does not try to settle for as long as the visibility lasts', async () => {
    const server = await serverOfTest()
    const { dispose, work, runner } = await startService({ url: server.url, commandDeadlineMs: 300 })
    let started = false
    work([
      defineTaskHandler({
        type: 'mail',
        version: 1,
        handler: async (ctx) => {
          started = true
          await new Promise((_resolve, reject) => {
            ctx.cancellationSignal.addEventListener('abort', () => {
              reject(new Error('stopped'))
            })
          })
        },
      }),
    ])
    await runner.submit({ type: 'mail', payload: 1, handlerVersion: 1 })
    await until(() => started, { description: 'the task to run' })
    await server.stop()
    const startedAt = performance.now()
    await dispose()
    expect(performance.now() - startedAt).toBeLessThan(15_000)
  }, 30_000)
})
