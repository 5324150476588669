import type { BegunTask, CreateTask, FinishAttempt, FinishResult } from '@furystack/task-runner'
import { firstValueFrom, lastValueFrom } from 'rxjs'
import { expect, it, onTestFinished } from 'vitest'

import type { Claim } from '../../src/claim/claim.js'
import { keys as keysOf } from '../../src/keys/keys.js'
import { type Lane, lane } from '../../src/keys/lane.js'
import { redisLanePort } from '../../src/redis/redisLanePort.js'
import { Turns } from '../../src/redis/turns.js'
import { createTasks } from '../../src/scripts/createTasks.js'
import { connectClient } from '../support/connectClient.js'
import { connectTo } from '../support/connectTo.js'
import { uniquePrefix } from '../support/uniquePrefix.js'

const KEEP = { onSuccess: 'keep', onFailure: 'keep', ttlAfterTerminalDays: 30 } as const
const DAY_MS = 86_400_000
const mail = lane('mail', 1)

const setUp = async () => {
  const client = await connectClient()
  const keys = keysOf(uniquePrefix('batches'))
  const connection = connectTo(client)
  onTestFinished(() => connection[Symbol.asyncDispose]())
  const setting = { keys, group: 'runner', isJoint: true }
  const turns = new Turns(connection, keys, setting)
  const port = redisLanePort({ ...setting, commands: connection, reader: connection, turns, idempotencyTtlSec: 60 })
  /** Claims of new tasks of a lane. */
  const claim = async (of: Lane, count: number): Promise<readonly Claim[]> => {
    const { type, handlerVersion, tags } = of
    const slots = Array.from({ length: count }, (_, index) => `w-slot-${String(index)}`)
    const tasks = slots.map((_, index): CreateTask => ({
      id: `t${String(index)}`,
      type,
      handlerVersion,
      tags: [...tags],
      status: 'pending',
      retentionPolicy: KEEP,
    }))
    await createTasks(connection, keys, 'runner', tasks, true)
    const request = { workerId: 'w', slots, lanes: [{ lane: of, visibilityTimeoutMs: 60_000 }] }
    // eslint-disable-next-line rxjs-x/no-ignored-default-value -- an operation that answers nothing fails the test
    return (await firstValueFrom(port.read(request))).claims
  }
  return { client, keys, port, turns, claim }
}

const finishOf = (
  turns: Turns,
  claim: Claim,
  retentionPolicy: FinishAttempt['retentionPolicy'],
): Promise<FinishResult> => {
  const { attempt, at: startedAt } = claim.begun as BegunTask
  const { taskId, workerId } = claim
  const input: FinishAttempt = { taskId, attempt, workerId, startedAt, outcome: { kind: 'succeeded' } }
  return turns.finish({ claim, input: retentionPolicy ? { ...input, retentionPolicy } : input })
}

const LANES = [
  mail,
  lane('mail', 1, ['eu', 'gpu']),
  lane('a:v7', 2),
  lane('a:v7:tags=b', 3, ['c:v4']),
  lane('ä :tags=', 12),
]

it.each(LANES)('puts a task that is given back into its lane $name again, under its type and version', async (of) => {
  const { client, keys, port, claim } = await setUp()

  await lastValueFrom(port.handBack(await claim(of, 1)), { defaultValue: undefined })

  const entries = await client.xRange(keys.queue(of), '-', '+')
  expect(entries?.map((entry) => ({ ...entry?.message }))).toEqual([
    { taskId: 't0', type: of.type, handlerVersion: String(of.handlerVersion) },
  ])
})

it('ends attempts of several workers and policies in one call, each by its own', async () => {
  const { client, keys, turns, claim } = await setUp()
  const policies = [
    undefined,
    { ...KEEP, keepRowDays: 1 },
    { ...KEEP, keepRowDays: 1 },
    { ...KEEP, keepRowDays: 0 },
    undefined,
    { ...KEEP, keepRowDays: Infinity },
  ]
  const claims = await claim(mail, policies.length)

  await Promise.all(claims.map((one, at) => finishOf(turns, { ...one, workerId: `w${String(at % 3)}` }, policies[at])))

  const rows = await Promise.all(claims.map(({ taskId }) => client.hGetAll(keys.row(taskId))))
  expect(rows.map(({ s, a1 = '' }) => [s, a1.split('|')[3]])).toEqual([
    ['succeeded', 'w0'],
    ['succeeded', 'w1'],
    ['succeeded', 'w2'],
    [undefined, undefined],
    ['succeeded', 'w1'],
    ['succeeded', 'w2'],
  ])
  const left = await Promise.all(claims.map(({ taskId }) => client.pTTL(keys.row(taskId))))
  expect(left.map((ms) => (ms < 0 ? ms : Math.round(ms / DAY_MS)))).toEqual([30, 1, 1, -2, 30, -1])
})
