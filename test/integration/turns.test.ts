import type { BegunTask, CreateTask } from '@furystack/task-runner'
import { firstValueFrom, type Observable } from 'rxjs'
import { describe, expect, it, onTestFinished } from 'vitest'

import type { Claim } from '../../src/claim/claim.js'
import type { Connection } from '../../src/connection/connection.js'
import { RedisRefusedError } from '../../src/errors/redisRefusedError.js'
import { keys as keysOf } from '../../src/keys/keys.js'
import { lane } from '../../src/keys/lane.js'
import { redisLanePort } from '../../src/redis/redisLanePort.js'
import { Turns } from '../../src/redis/turns.js'
import { createTasks } from '../../src/scripts/createTasks.js'
import { connectTo } from '../support/connectTo.js'
import { connectClient } from '../support/connectClient.js'
import { uniquePrefix } from '../support/uniquePrefix.js'

const mail = lane('mail', 1)
const slots = Array.from({ length: 150 }, (_, index) => `w-slot-${String(index)}`)
const reading = { workerId: 'w', slots, lanes: [{ lane: mail, visibilityTimeoutMs: 60_000 }] }

// eslint-disable-next-line rxjs-x/no-ignored-default-value -- an operation that answers nothing fails the test
const ask = <T>(reply$: Observable<T>): Promise<T> => firstValueFrom(reply$)

/** What a call of the script was for: how many slots it read for, and the tasks whose attempts it ended. */
interface Call {
  readonly reads: number
  readonly ends: readonly string[]
}

/** Writes down the calls that go through a connection. */
const noting = (connection: Connection, calls: Call[]): Connection => ({
  get isReady() {
    return connection.isReady
  },
  get isAwaiting() {
    return connection.isAwaiting
  },
  replace: () => {
    connection.replace()
  },
  send: (operation, args, graceMs) => {
    if (operation === 'finishAndRead') {
      const slotCountAt = 3 + Number(args[2]) + 3
      calls.push({ reads: Number(args[slotCountAt]), ends: args.filter((arg) => /^t\d+$/.test(arg)) })
    }
    return connection.send(operation, args, graceMs)
  },
  [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
})

/** Claims of `count` new tasks for `asked` slots, on connections that end with the test. */
const setUp = async (count: number, { asked = 150, cap = undefined as number | undefined } = {}) => {
  const client = await connectClient()
  const keys = keysOf(uniquePrefix('turns'))
  const calls: Call[] = []
  const connection = noting(connectTo(client), calls)
  onTestFinished(() => connection[Symbol.asyncDispose]())
  const setting = { keys, group: 'runner', isJoint: true }
  const turns = new Turns(connection, keys, setting)
  const port = redisLanePort({ ...setting, commands: connection, reader: connection, turns, idempotencyTtlSec: 60 })
  const tasks = Array.from({ length: count }, (_, index): CreateTask => ({
    id: `t${String(index)}`,
    type: 'mail',
    handlerVersion: 1,
    status: 'pending',
    tags: [],
    retentionPolicy: { onSuccess: 'keep', onFailure: 'keep', ttlAfterTerminalDays: 30 },
  }))
  await createTasks(connection, keys, 'runner', tasks, true)
  const request = {
    workerId: 'w',
    slots: slots.slice(0, asked),
    lanes: [{ lane: mail, visibilityTimeoutMs: 60_000, ...(cap !== undefined && { cap }) }],
  }
  const { claims } = await ask(port.read(request))
  calls.length = 0
  return { client, keys, port, turns, claims, request, calls }
}

const finishOf = (turns: Turns, claim: Claim, resultJson = '1') => {
  const { attempt, at: startedAt } = claim.begun as BegunTask
  const { taskId, workerId } = claim
  return turns.finish({
    claim,
    input: { taskId, attempt, workerId, startedAt, outcome: { kind: 'succeeded', resultJson } },
  })
}

it('answers each attempt of a turn in its place, and the read with them', async () => {
  const { client, keys, port, turns, claims } = await setUp(150)
  expect(claims).toHaveLength(150)
  const [finished, reply] = await Promise.all([
    Promise.all(claims.map((claim) => finishOf(turns, claim))),
    ask(port.read(reading)),
  ])

  expect(finished.map((result) => result.kind === 'finished' && result.status)).toEqual(claims.map(() => 'succeeded'))
  expect(reply.claims).toEqual([])
  expect(await client.xLen(keys.queue(mail))).toBe(0)
})

it('fails no attempt but the one that Redis refuses, and tells a late owner apart', async () => {
  const { client, keys, turns, claims } = await setUp(3)
  const [first, second, third] = claims as [Claim, Claim, Claim]
  await client.set(keys.row(second.taskId), 'no row')
  await client.hSet(keys.row(third.taskId), 'run', '7')

  const results = await Promise.allSettled([first, second, third].map((claim) => finishOf(turns, claim)))

  expect(results).toMatchObject([
    { status: 'fulfilled', value: { kind: 'finished', status: 'succeeded' } },
    { status: 'rejected', reason: { code: 'redis-refused', reply: 'WRONGTYPE' } },
    { status: 'fulfilled', value: { kind: 'lost', status: 'running' } },
  ])
  expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(RedisRefusedError)
  // The entries of the other two stay with whoever has them.
  expect((await client.xRange(keys.queue(mail), '-', '+'))?.map((entry) => entry?.id)).toEqual([
    second.entryId,
    third.entryId,
  ])
})

it('settles entries of a turn together, and tells apart whoever does not own theirs any more', async () => {
  const { client, keys, turns, claims } = await setUp(150)
  const late = (claim: Claim): Claim => ({ ...claim, deliveryCount: 7 })
  const before = Number(/total_reads_processed:(\d+)/.exec(await client.info('stats'))?.[1])

  const replies = await Promise.all(claims.map((claim, at) => turns.settle(at % 3 === 0 ? late(claim) : claim)))

  const reads = Number(/total_reads_processed:(\d+)/.exec(await client.info('stats'))?.[1]) - before
  expect(reads).toBeLessThan(10)
  expect(replies).toEqual(claims.map((_, at) => (at % 3 === 0 ? 'lost' : 'settled')))
  const left = (await client.xRange(keys.queue(mail), '-', '+'))?.map((entry) => entry?.id)
  expect(left).toEqual(claims.filter((_, at) => at % 3 === 0).map(({ entryId }) => entryId))
  expect((await client.xPending(keys.queue(mail), 'runner')).pending).toBe(50)
})

it('ends attempts though the lanes cannot be read', async () => {
  const { client, keys, port, turns, claims } = await setUp(1)
  await client.set(keys.queue(lane('broken', 1)), 'no stream')
  const lanes = [{ lane: lane('broken', 1), visibilityTimeoutMs: 60_000 }]

  const [finished, read] = await Promise.allSettled([
    finishOf(turns, claims[0] as Claim),
    ask(port.read({ ...reading, lanes })),
  ])

  expect(finished).toMatchObject({ status: 'fulfilled', value: { kind: 'finished' } })
  expect(read).toMatchObject({ status: 'rejected', reason: { code: 'redis-refused', reply: 'WRONGTYPE' } })
})

it('keeps long results in a compact row, and gives them back whole', async () => {
  const { client, keys, turns, claims } = await setUp(1)
  const [claim] = claims as [Claim]

  await finishOf(turns, claim, JSON.stringify('é'.repeat(100)))

  expect(await client.sendCommand(['OBJECT', 'ENCODING', keys.row(claim.taskId)])).toBe('listpack')
})

describe('while reads give all that they ask for', () => {
  const turnOf = async ({ port, turns, claims, request }: Awaited<ReturnType<typeof setUp>>) => {
    const [finished, { claims: next }] = await Promise.all([
      Promise.all(claims.map((claim) => finishOf(turns, claim))),
      ask(port.read(request)),
    ])
    expect(finished).toMatchObject(claims.map(() => ({ kind: 'finished', status: 'succeeded' })))
    return next.map(({ taskId }) => taskId)
  }

  it('the read goes first, and the attempts are ended behind it', async () => {
    const given = await setUp(4, { asked: 2 })

    expect(await turnOf(given)).toEqual(['t2', 't3'])

    expect(given.calls).toEqual([
      { reads: 2, ends: [] },
      { reads: 0, ends: ['t0', 't1'] },
    ])
    expect((await given.client.xPending(given.keys.queue(mail), 'runner')).pending).toBe(2)
  })

  it('entries are settled behind it, too, where rows lie elsewhere', async () => {
    const { port, turns, claims, request, calls } = await setUp(4, { asked: 2 })

    const [replies, { claims: next }] = await Promise.all([
      Promise.all(claims.map((claim) => turns.settle(claim))),
      ask(port.read(request)),
    ])

    expect([replies, next.length]).toEqual([['settled', 'settled'], 2])
    expect(calls.map(({ reads }) => reads)).toEqual([2, 0])
  })

  it('places below a cap become free before anybody looks for them', async () => {
    const given = await setUp(4, { asked: 2, cap: 2 })

    expect(await turnOf(given)).toEqual(['t2', 't3'])

    expect(given.calls).toEqual([{ reads: 2, ends: ['t0', 't1'] }])
  })

  it('a read that is on its way already keeps Redis busy', async () => {
    const given = await setUp(6, { asked: 2 })
    const other = ask(given.port.read({ ...given.request, slots: slots.slice(2, 4) }))
    await new Promise(setImmediate)

    expect(await turnOf(given)).toHaveLength(2)

    expect((await other).claims).toHaveLength(2)
    expect(given.calls).toEqual([
      { reads: 2, ends: [] },
      { reads: 2, ends: ['t0', 't1'] },
    ])
  })
})

it('takes one call once a read has given less than it asked for', async () => {
  const { port, turns, claims, request, calls } = await setUp(3, { asked: 4 })

  await Promise.all([...claims.map((claim) => finishOf(turns, claim)), ask(port.read(request))])

  expect(calls).toEqual([{ reads: 4, ends: ['t0', 't1', 't2'] }])
})
