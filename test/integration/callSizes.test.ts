import type { BegunTask, CreateTask } from '@furystack/task-runner'
import { firstValueFrom } from 'rxjs'
import { expect, it, onTestFinished } from 'vitest'

import type { Connection } from '../../src/connection/connection.js'
import { keys as keysOf } from '../../src/keys/keys.js'
import { lane } from '../../src/keys/lane.js'
import { redisLanePort } from '../../src/redis/redisLanePort.js'
import { Submissions } from '../../src/redis/submissions.js'
import { Turns } from '../../src/redis/turns.js'
import { createTasks } from '../../src/scripts/createTasks.js'
import { connectClient } from '../support/connectClient.js'
import { connectTo } from '../support/connectTo.js'
import { uniquePrefix } from '../support/uniquePrefix.js'

const MIB = 1_048_576
/** What a call says beside payloads and results. */
const REST = 10_000

/** A connection that remembers how many bytes each script call had. */
const setUp = async () => {
  const keys = keysOf(uniquePrefix('sizes'))
  const client = await connectClient()
  const connection = connectTo(client)
  onTestFinished(() => connection[Symbol.asyncDispose]())
  const sizes: number[] = []
  const watched: Connection = {
    isReady: true,
    isAwaiting: false,
    send: (operation, args, graceMs) => {
      // A text is sent once, where the server does not know it.
      if (args[0] === 'EVALSHA') sizes.push(args.reduce((sum, arg) => sum + Buffer.byteLength(arg), 0))
      return connection.send(operation, args, graceMs)
    },
    replace: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  // The server knows the scripts.
  await createTasks(connection, keys, 'runner', [taskOf('known', '1')], true)
  return { keys, client, watched, sizes }
}

/** JSON of a text of so many bytes, two a character. */
const jsonOf = (bytes: number): string => JSON.stringify('é'.repeat((bytes - 2) / 2))

const taskOf = (id: string, payloadJson: string): CreateTask => ({
  id,
  type: 'mail',
  handlerVersion: 1,
  status: 'pending',
  tags: [],
  retentionPolicy: { onSuccess: 'keep', onFailure: 'keep', ttlAfterTerminalDays: 30 },
  payloadJson,
})

const within = (sizes: readonly number[]): boolean[] => sizes.map((size) => size <= MIB + REST)

it('submits what comes in one turn in calls of a mebibyte, but a task that is larger by itself', async () => {
  const { keys, client, watched, sizes } = await setUp()
  const submissions = new Submissions(watched, keys, 'runner')
  const payloads = [...Array.from({ length: 9 }, () => jsonOf(0.3 * MIB)), jsonOf(3 * MIB), jsonOf(0.3 * MIB)]

  const results = await Promise.all(payloads.map((json, at) => submissions.submit(taskOf(`t${String(at)}`, json))))

  expect(results.map(({ kind }) => kind)).toEqual(payloads.map(() => 'created'))
  expect(within(sizes)).toEqual([true, true, true, false, true])
  expect(
    (await client.xRange(keys.queue(lane('mail', 1)), '-', '+'))?.map((entry) => entry?.message['taskId']),
  ).toEqual(['known', ...payloads.map((_, at) => `t${String(at)}`)])
})

it.each([
  ['few', 32, [32]],
  ['100', 100, [50, 50]],
  ['many', 350, [100, 100, 100, 50]],
])(
  'submits %s that come in one turn in calls of half of them, within bounds, each in a turn of its own',
  async (_, count, calls) => {
    const { keys, watched } = await setUp()
    const made: number[] = []
    let turn = 0
    const counting: Connection = {
      ...watched,
      send: (operation, args) => {
        if (args[0] === 'EVALSHA') {
          made[turn] = (made[turn] ?? 0) + args.filter((arg) => /^t\d+$/.test(arg)).length
          setImmediate(() => turn++)
        }
        return watched.send(operation, args)
      },
    }
    const submissions = new Submissions(counting, keys, 'runner')

    await Promise.all(Array.from({ length: count }, (_, at) => submissions.submit(taskOf(`t${String(at)}`, '1'))))

    expect(made.filter((tasks) => tasks > 0)).toEqual(calls)
  },
)

it('ends what ends in one turn in calls of a mebibyte of results', async () => {
  const { keys, client, watched, sizes } = await setUp()
  const setting = { keys, group: 'runner', isJoint: true }
  const turns = new Turns(watched, keys, setting)
  const port = redisLanePort({ ...setting, commands: watched, reader: watched, turns, idempotencyTtlSec: 60 })
  const tasks = Array.from({ length: 10 }, (_, at) => taskOf(`t${String(at)}`, '1'))
  await createTasks(watched, keys, 'runner', tasks, true)
  const slots = Array.from({ length: 20 }, (_, at) => `w-slot-${String(at)}`)
  const request = { workerId: 'w', slots, lanes: [{ lane: lane('mail', 1), visibilityTimeoutMs: 60_000 }] }
  // eslint-disable-next-line rxjs-x/no-ignored-default-value -- an operation that answers nothing fails the test
  const read = () => firstValueFrom(port.read(request))
  const { claims } = await read()
  sizes.length = 0
  const resultJson = jsonOf(0.3 * MIB)

  const [finished, { claims: none }] = await Promise.all([
    Promise.all(
      claims.map((claim) => {
        const { attempt, at: startedAt } = claim.begun as BegunTask
        const { taskId, workerId } = claim
        const outcome = { kind: 'succeeded', resultJson } as const
        return turns.finish({ claim, input: { taskId, attempt, workerId, startedAt, outcome } })
      }),
    ),
    read(),
  ])

  expect(finished.map((result) => result.kind === 'finished' && result.status)).toEqual(claims.map(() => 'succeeded'))
  expect(none).toEqual([])
  // Three a call, and the read goes with the last.
  expect(within(sizes)).toEqual([true, true, true, true])
  expect(await client.hGet(keys.row('t9'), 'r')).toBe(resultJson)
})

it('creates a list of 16 MiB all or nothing, and what is larger in several calls', async () => {
  const { keys, client, watched, sizes } = await setUp()
  const orphan = (tasks: CreateTask[]): CreateTask[] => [...tasks, { ...taskOf('child', '1'), parentTaskId: 'nobody' }]
  const listOf = (count: number, bytes: number) =>
    Array.from({ length: count }, (_, at) => taskOf(`t${String(at)}`, jsonOf(bytes)))

  const refused = await createTasks(watched, keys, 'runner', orphan(listOf(15, MIB)), true)
  expect(refused.map(({ kind }) => kind)).toEqual(Array.from({ length: 16 }, () => 'refused'))
  expect(sizes).toHaveLength(1)
  expect(await client.exists(keys.row('t0'))).toBe(0)

  const created = await createTasks(watched, keys, 'runner', listOf(18, MIB), true)
  expect(created.map(({ kind }) => kind)).toEqual(Array.from({ length: 18 }, () => 'created'))
  expect(sizes).toHaveLength(3)
})
