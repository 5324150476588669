import { randomUUID } from 'node:crypto'

import type { CreateManyResult, CreateTask } from '@furystack/task-runner'
import { expect, it, onTestFinished } from 'vitest'

import type { Connection } from '../../src/connection/connection.js'
import { keys as keysOf } from '../../src/keys/keys.js'
import { lane } from '../../src/keys/lane.js'
import { createTasks } from '../../src/scripts/createTasks.js'
import { connectClient } from '../support/connectClient.js'
import { connectTo } from '../support/connectTo.js'
import { uniquePrefix } from '../support/uniquePrefix.js'

const KEEP = { onSuccess: 'keep', onFailure: 'keep', ttlAfterTerminalDays: 30 } as const

const setUp = async () => {
  const client = await connectClient()
  const prefix = uniquePrefix('create')
  const keys = keysOf(prefix)
  const connection = connectTo(client)
  onTestFinished(() => connection[Symbol.asyncDispose]())
  const create = (...tasks: CreateTask[]) => createTasks(connection, keys, 'runner', tasks, true)
  const entriesOf = async (...of: Parameters<typeof lane>): Promise<Array<Record<string, string>>> =>
    ((await client.xRange(keys.queue(lane(...of)), '-', '+')) ?? []).map((entry) => ({ ...entry?.message }))
  return { client, prefix, keys, connection, create, entriesOf }
}

const taskOf = (id: string, more: Partial<CreateTask> = {}): CreateTask => ({
  id,
  type: 'mail',
  handlerVersion: 1,
  status: 'pending',
  tags: [],
  retentionPolicy: KEEP,
  payloadJson: JSON.stringify(id),
  ...more,
})

const entryOf = (taskId: string, type = 'mail', handlerVersion = '1') => ({ taskId, type, handlerVersion })

it('creates tasks of every kind in one call, each in its place', async () => {
  const { client, keys, create, entriesOf } = await setUp()
  await create(taskOf('old'), taskOf('parent'), taskOf('holder', { idempotencyKey: 'held' }))

  const eu = ['eu']
  const later = Date.now() + 3_600_000
  const results = await create(
    taskOf('a'),
    taskOf('old'),
    taskOf('b', { submittedBy: 'me', isPolicyGiven: true }),
    taskOf('c', { type: 'sms', handlerVersion: 2 }),
    taskOf('d', { type: 'sms', handlerVersion: 2 }),
    taskOf('e', { tags: eu }),
    taskOf('f', { tags: eu, idempotencyKey: 'new' }),
    taskOf('g', { tags: eu }),
    taskOf('h', { idempotencyKey: 'held' }),
    taskOf('i', { parentTaskId: 'parent' }),
    taskOf('j', { notBefore: later }),
    taskOf('k', { status: 'draft' }),
    taskOf('l', { startBefore: later }),
    taskOf('m'),
  )

  const found = results.map((result) => [
    result.kind,
    result.kind === 'created' ? result.taskId : result.kind === 'exists' ? result.stored.task.id : '',
  ])
  expect(found).toEqual([
    ['created', 'a'],
    ['exists', 'old'],
    ...[...'bcdefg'].map((id) => ['created', id]),
    ['exists', 'holder'],
    ...[...'ijklm'].map((id) => ['created', id]),
  ])
  expect(results[9]).toMatchObject({ parentType: 'mail' })
  expect(await entriesOf('mail', 1)).toEqual([
    ...['old', 'parent', 'holder'].map((id) => entryOf(id)),
    ...[...'abilm'].map((id) => entryOf(id)),
  ])
  expect(await entriesOf('sms', 2)).toEqual([...'cd'].map((id) => entryOf(id, 'sms', '2')))
  expect(await entriesOf('mail', 1, eu)).toEqual([...'efg'].map((id) => entryOf(id)))
  expect(await client.zRange(keys.scheduler, 0, -1)).toHaveLength(1)
  expect((await client.sMembers(keys.lanes)).sort()).toEqual(['mail:v1', 'mail:v1:tags=eu', 'sms:v2'])
  const bells = [lane('mail', 1), lane('sms', 2), lane('mail', 1, eu)].map((of) => client.lLen(keys.bell(of)))
  expect(await Promise.all(bells)).toEqual([1, 1, 1])
  const policy = { rp: JSON.stringify(KEEP), kp: expect.any(String) as string }
  const row = { c: expect.stringMatching(/^\d{13}$/) as string, t: 'mail', v: '1', s: 'pending' }
  expect(await client.hGetAll(keys.row('b'))).toEqual({ ...row, p: '"b"', by: 'me', ...policy })
  expect(await client.hGetAll(keys.row('d'))).toEqual({ ...row, t: 'sms', v: '2', p: '"d"' })
  expect(await client.hGetAll(keys.row('g'))).toEqual({ ...row, p: '"g"', tg: '["eu"]' })
})

it.each([
  ['alone', []],
  ['behind a run of another lane', [taskOf('a', { type: 'sms' })]],
  ['behind a task with a key', [taskOf('a', { type: 'sms', idempotencyKey: 'k' })]],
])(
  'writes nothing, and says so, where something else lies in place of the lane of a task that comes %s',
  async (_, before) => {
    const { client, prefix, keys, create } = await setUp()
    await client.set(keys.queue(lane('mail', 1)), 'no stream')

    await expect(create(...before, taskOf('b'))).rejects.toMatchObject({ reply: 'WRONGTYPE', effect: 'excluded' })

    expect(await client.keys(`${prefix}*`)).toEqual([keys.queue(lane('mail', 1))])
  },
)

it('leaves a bell as it is that rings already', async () => {
  const { client, keys, create } = await setUp()
  for (const id of ['a', 'b', 'c']) await create(taskOf(id))
  expect(await client.lLen(keys.bell(lane('mail', 1)))).toBe(1)
})

it('hands over the results of each call while the next is on its way, and tries nothing after a fault', async () => {
  const { client, keys, connection } = await setUp()
  const told: string[] = []
  const watched: Connection = {
    isReady: true,
    isAwaiting: false,
    send: (operation, args) => {
      if (args[0] === 'EVALSHA') told.push('call')
      return connection.send(operation, args)
    },
    replace: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const noteResults = (results: readonly CreateManyResult[]) => {
    told.push(...new Set(results.map(({ kind }) => kind)))
  }
  const create = (tasks: CreateTask[]) => createTasks(watched, keys, 'runner', tasks, 'together', noteResults)
  const some = (count: number, more: Partial<CreateTask> = {}) =>
    Array.from({ length: count }, () => taskOf(randomUUID(), more))
  // The server knows the script.
  await create(some(1))
  told.length = 0

  await create(some(1_200))
  expect(told).toEqual(['call', 'call', 'created', 'call', 'created', 'created'])

  told.length = 0
  await client.set(keys.queue(lane('spoilt', 1)), 'no stream')
  await expect(create([...some(600), ...some(1, { type: 'spoilt' }), ...some(600)])).rejects.toThrow(/WRONGTYPE/)
  expect(told).toEqual(['call', 'call', 'created'])
  expect(await client.xLen(keys.queue(lane('mail', 1)))).toBe(1 + 1_200 + 500)
})

const plain = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => taskOf(`${prefix}-${String(n)}`))
const keyed = (id: string, payloadJson: string, idempotencyKey = 'k') => taskOf(id, { idempotencyKey, payloadJson })

it('creates nothing of a long list in which a key belongs to another payload', async () => {
  const { client, prefix, keys, connection, create } = await setUp()
  await create(keyed('held', '1'), keyed('other', '1', 'o'), keyed('third', '1', 't'))
  const before = await client.keys(`${prefix}*`)
  const told: number[] = []
  const list = [...plain('a', 700), keyed('b', '1', 'o'), keyed('c', '2'), ...plain('d', 700), keyed('e', '2', 't')]

  const results = await createTasks(connection, keys, 'runner', list, 'together', (some) => told.push(some.length))

  expect(told).toEqual([])
  expect(results).toHaveLength(list.length)
  expect(results.every(({ kind }) => kind === 'withheld')).toBe(true)
  const found = results.flatMap((result, at) =>
    result.kind === 'withheld' && result.stored ? [[list[at]?.id, result.stored.task.id]] : [],
  )
  expect(found).toEqual([
    ['c', 'held'],
    ['e', 'third'],
  ])
  expect((await client.keys(`${prefix}*`)).sort()).toEqual(before.sort())
  expect(await client.xLen(keys.queue(lane('mail', 1)))).toBe(3)
})

it('creates nothing of a long list in which a parent is over or missing', async () => {
  const { client, keys, connection } = await setUp()
  const list = [...plain('a', 1_200), taskOf('b', { parentTaskId: 'nobody' })]

  const results = await createTasks(connection, keys, 'runner', list, 'together')

  expect(results).toEqual(list.map(() => ({ kind: 'refused', parentTaskId: 'nobody' })))
  expect(await client.exists(keys.queue(lane('mail', 1)))).toBe(0)
})

it('creates a long list whose keys are free, or belong to the same payload', async () => {
  const { client, keys, connection, create } = await setUp()
  await create(keyed('held', '1'))
  const list = [...plain('a', 600), keyed('b', '1'), ...plain('c', 600), keyed('d', '2', 'free')]

  const results = await createTasks(connection, keys, 'runner', list, 'together')

  const kinds = results.map(({ kind }) => kind)
  expect(kinds).toEqual(list.map(({ id }) => (id === 'b' ? 'exists' : 'created')))
  expect(await client.xLen(keys.queue(lane('mail', 1)))).toBe(1 + 1_201)
})

it('lets a long list take a key from a task that has failed, and name it again', async () => {
  const { client, keys, connection, create } = await setUp()
  await create(keyed('failed', '1'))
  await client.hSet(keys.row('failed'), 's', 'failed')
  const others = Array.from({ length: 600 }, (_, n) => keyed(`a-${String(n)}`, '0', `k-${String(n)}`))
  const list = [{ ...keyed('anew', '2'), resubmitAfterFailure: true }, ...others, keyed('again', '2')]

  const results = await createTasks(connection, keys, 'runner', list, 'together')

  expect(results.map(({ kind }) => kind)).toEqual(list.map(({ id }) => (id === 'again' ? 'exists' : 'created')))
})

it('does nothing in a call in which a key has come to belong to another payload, and tries nothing after it', async () => {
  const { client, keys, connection, create } = await setUp()
  let calls = 0
  const watched: Connection = {
    isReady: true,
    isAwaiting: false,
    send: async (operation, args) => {
      const reply = await connection.send(operation, args)
      // Between the look at the whole list and its first call.
      if (args[0]?.startsWith('EVAL') === true && calls++ === 0) await create(keyed('held', '1'))
      return reply
    },
    replace: () => undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  await create(taskOf('known'))
  const told: number[] = []
  const results = await createTasks(
    watched,
    keys,
    'runner',
    [...plain('first', 500), ...plain('a', 2), keyed('b', '2'), ...plain('c', 3), keyed('d', '1'), ...plain('e', 600)],
    'together',
    (some) => told.push(some.length),
  )

  expect(told).toEqual([500])
  expect(results).toHaveLength(1_107)
  expect(results.slice(0, 500).every(({ kind }) => kind === 'created')).toBe(true)
  expect(results.slice(500).every(({ kind }) => kind === 'withheld')).toBe(true)
  const found = results.flatMap((result, at) =>
    result.kind === 'withheld' && result.stored ? [[at, result.stored]] : [],
  )
  expect(found).toMatchObject([[502, { task: { id: 'held', payload: 1 } }]])
  expect(await client.xLen(keys.queue(lane('mail', 1)))).toBe(2 + 500)
  expect(await client.exists(keys.row('a-0'))).toBe(0)
})
