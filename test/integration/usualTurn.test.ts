import type { BegunTask, CreateTask, FinishAttempt } from '@furystack/task-runner'
import { firstValueFrom, type Observable } from 'rxjs'
import { expect, it, onTestFinished } from 'vitest'

import type { Claim } from '../../src/claim/claim.js'
import { keys as keysOf } from '../../src/keys/keys.js'
import { lane } from '../../src/keys/lane.js'
import { redisLanePort } from '../../src/redis/redisLanePort.js'
import { Turns } from '../../src/redis/turns.js'
import { createTasks } from '../../src/scripts/createTasks.js'
import { connectClient } from '../support/connectClient.js'
import { connectTo } from '../support/connectTo.js'
import { uniquePrefix } from '../support/uniquePrefix.js'

const mail = lane('mail', 1)
const KEEP = { onSuccess: 'keep', onFailure: 'keep', ttlAfterTerminalDays: 30 } as const

// eslint-disable-next-line rxjs-x/no-ignored-default-value -- an operation that answers nothing fails the test
const ask = <T>(reply$: Observable<T>): Promise<T> => firstValueFrom(reply$)

const setUp = async (payloadJson: string | undefined) => {
  const client = await connectClient()
  const keys = keysOf(uniquePrefix('usual'))
  const connection = connectTo(client)
  onTestFinished(() => connection[Symbol.asyncDispose]())
  const setting = { keys, group: 'runner', isJoint: true }
  const turns = new Turns(connection, keys, setting)
  const port = redisLanePort({ ...setting, commands: connection, reader: connection, turns, idempotencyTtlSec: 60 })
  const task: CreateTask = {
    id: 'usual',
    type: 'mail',
    handlerVersion: 1,
    status: 'pending',
    tags: [],
    retentionPolicy: KEEP,
    ...(payloadJson !== undefined && { payloadJson }),
  }
  await createTasks(connection, keys, 'runner', [task, { ...task, id: 'general' }], true)
  return { client, keys, turns, port }
}

const finish = (
  turns: Turns,
  claim: Claim,
  policy: FinishAttempt['retentionPolicy'],
  resultJson: string | undefined,
) => {
  const { attempt, at: startedAt } = claim.begun as BegunTask
  const { taskId, workerId } = claim
  const outcome =
    resultJson === undefined ? ({ kind: 'succeeded' } as const) : ({ kind: 'succeeded', resultJson } as const)
  const input: FinishAttempt = { taskId, attempt, workerId, startedAt, outcome }
  if (policy) input.retentionPolicy = policy
  return turns.finish({ claim, input })
}

const PAYLOADS = [
  undefined,
  '1',
  JSON.stringify('p'.repeat(100)),
  JSON.stringify('é'.repeat(400)),
  JSON.stringify('p'.repeat(9_000)),
]

it.each(
  PAYLOADS.flatMap((payload) =>
    [undefined, { ...KEEP, keepRowDays: 0 }, { ...KEEP, keepRowDays: 1 }, { ...KEEP, keepRowDays: Infinity }].map(
      (policy) => ({
        payload,
        policy,
        of: `${String(payload?.length ?? 0)} characters, ${String(policy?.keepRowDays)}`,
      }),
    ),
  ),
)('does what the general way does: $of', async ({ payload, policy }) => {
  const { client, keys, turns, port } = await setUp(payload)
  const [usual, general] = [keys.row('usual'), keys.row('general')]
  // None of these says anything, but a row with one of them is not a usual one.
  await client.hSet(general, 'us', '0')
  const { claims } = await ask(
    port.read({ workerId: 'w', slots: ['w-slot-0', 'w-slot-1'], lanes: [{ lane: mail, visibilityTimeoutMs: 60_000 }] }),
  )
  const [one, other] = claims as [Claim, Claim]
  expect({ ...other, taskId: one.taskId, entryId: one.entryId, slot: one.slot, begun: undefined }).toEqual({
    ...one,
    begun: undefined,
  })
  const [begun, begunToo] = [one.begun as BegunTask, other.begun as BegunTask]
  expect(begunToo.stored.task.payload).toEqual(begun.stored.task.payload)
  expect(begunToo.stored.task.submittedAt).toEqual(begun.stored.task.submittedAt)
  expect({ ...begunToo, stored: { ...begunToo.stored, task: 0 } }).toEqual({
    ...begun,
    stored: { ...begun.stored, task: 0 },
  })
  expect(begun.stored.task.payload).toEqual(payload === undefined ? undefined : JSON.parse(payload))
  await client.hDel(general, 'us')
  expect(await client.hGetAll(general)).toEqual(await client.hGetAll(usual))

  await client.hSet(general, 'st', '')
  const results = await Promise.all([one, other].map((claim) => finish(turns, claim, policy, payload)))

  expect(results[1]).toEqual(results[0])
  await client.hDel(general, 'st')
  const row = await client.hGetAll(usual)
  expect(row).toMatchObject(policy?.keepRowDays === 0 ? {} : { s: 'succeeded' })
  expect(await client.hGetAll(general)).toEqual(row)
  const [left, leftToo] = await Promise.all([client.pExpireTime(usual), client.pExpireTime(general)])
  expect(Math.abs(left - leftToo)).toBeLessThan(50)
  expect(await client.xLen(keys.queue(mail))).toBe(0)
})

it('leaves to the general way what has come to a usual row since its attempt began', async () => {
  const { client, keys, turns, port } = await setUp('1')
  const { claims } = await ask(
    port.read({ workerId: 'w', slots: ['w-slot-0', 'w-slot-1'], lanes: [{ lane: mail, visibilityTimeoutMs: 60_000 }] }),
  )
  const [one, other] = claims as [Claim, Claim]
  await client.hSet(keys.row(one.taskId), 'st', '')
  await client.rPush(`${keys.row(one.taskId)}:steps`, 'step')
  await client.hSet(keys.row(other.taskId), 'oc', '1')

  await Promise.all([one, other].map((claim) => finish(turns, claim, undefined, '2')))

  expect(await client.hGet(keys.row(one.taskId), 's')).toBe('succeeded')
  expect(await client.pTTL(`${keys.row(one.taskId)}:steps`)).toBeGreaterThan(0)
  // Its open child is an orphan now, and the row is kept until that has been reaped.
  expect(await client.zScore(`${keys.root}orphans`, other.taskId)).toBeGreaterThan(0)
  expect(await client.pTTL(keys.row(other.taskId))).toBe(-1)
})
