import type { BegunTask, CreateTask, FinishAttempt } from '@furystack/task-runner'
import fc from 'fast-check'
import { firstValueFrom, type Observable } from 'rxjs'
import { describe, expect, it, onTestFinished } from 'vitest'

import type { Claim } from '../../src/claim/claim.js'
import { keys as keysOf } from '../../src/keys/keys.js'
import { lane } from '../../src/keys/lane.js'
import { redisLanePort } from '../../src/redis/redisLanePort.js'
import { Turns } from '../../src/redis/turns.js'
import { createTasks } from '../../src/scripts/createTasks.js'
import { assertProperty } from '../support/assertProperty.js'
import { connectClient } from '../support/connectClient.js'
import { connectTo } from '../support/connectTo.js'
import { uniquePrefix } from '../support/uniquePrefix.js'

const mail = lane('mail', 1)
const KEEP = { onSuccess: 'keep', onFailure: 'keep', ttlAfterTerminalDays: 30 } as const

// eslint-disable-next-line rxjs-x/no-ignored-default-value -- an operation that answers nothing fails the test
const ask = <T>(reply$: Observable<T>): Promise<T> => firstValueFrom(reply$)

const connect = async () => {
  const client = await connectClient()
  const connection = connectTo(client)
  onTestFinished(() => connection[Symbol.asyncDispose]())
  return { client, connection }
}

const setUp = ({ client, connection }: Awaited<ReturnType<typeof connect>>) => {
  const keys = keysOf(uniquePrefix('remove'))
  const setting = { keys, group: 'runner', isJoint: true }
  const turns = new Turns(connection, keys, setting)
  const port = redisLanePort({ ...setting, commands: connection, reader: connection, turns, idempotencyTtlSec: 60 })
  const stream = keys.queue(mail)
  let submitted = 0
  const claim = async (count: number) => {
    const slots = Array.from({ length: count }, (_, index) => `w-slot-${String(index)}`)
    const lanes = [{ lane: mail, visibilityTimeoutMs: 60_000 }]
    return (await ask(port.read({ workerId: 'w', slots, lanes }))).claims
  }
  const finish = (claims: readonly Claim[], keepRowDays?: number) =>
    Promise.all(
      claims.map((claimed) => {
        const { attempt, at: startedAt } = claimed.begun as BegunTask
        const { taskId, workerId } = claimed
        const input: FinishAttempt = { taskId, attempt, workerId, startedAt, outcome: { kind: 'succeeded' } }
        if (keepRowDays !== undefined) input.retentionPolicy = { ...KEEP, keepRowDays }
        return turns.finish({ claim: claimed, input })
      }),
    )
  return {
    client,
    stream,
    add: (count: number) => {
      const tasks = Array.from({ length: count }, (): CreateTask => ({
        id: `t${String(submitted++)}`,
        type: 'mail',
        handlerVersion: 1,
        status: 'pending',
        tags: [],
        retentionPolicy: KEEP,
      }))
      return createTasks(connection, keys, 'runner', tasks, true)
    },
    claim,
    finish,
    /** The same in one call. */
    turn: async (ended: readonly Claim[], count: number, keepRowDays?: number) => {
      const [claims] = await Promise.all([claim(count), finish(ended, keepRowDays)])
      return claims
    },
    /** What is left in the stream, by the tasks' ids. */
    left: async () => (await client.xRange(stream, '-', '+'))?.map((entry) => entry?.message.taskId),
    callsOf: async (command: string) =>
      Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await client.info('commandstats'))?.[1] ?? 0),
  }
}

describe('entries that were settled together', () => {
  it('go in one walk where nobody works on older ones', async () => {
    const { add, claim, finish, left, callsOf } = setUp(await connect())
    await add(12)
    const claims = await claim(8)
    const before = await callsOf('xtrim')

    await finish(claims.slice(0, 5).reverse())

    expect(await left()).toEqual(['t5', 't6', 't7', 't8', 't9', 't10', 't11'])
    expect(await callsOf('xtrim')).toBe(before + 1)
  })

  it('go one by one where somebody does', async () => {
    const { add, claim, finish, left } = setUp(await connect())
    await add(8)
    const claims = await claim(6)

    await finish(claims.slice(1))

    expect(await left()).toEqual(['t0', 't6', 't7'])
  })

  it('leave alone what a group that was made anew has not read', async () => {
    const { client, stream, add, claim, finish, left } = setUp(await connect())
    await add(10)
    const claims = await claim(8)
    await client.xGroupDestroy(stream, 'runner')
    await client.xGroupCreate(stream, 'runner', '0')

    await finish(claims.slice(3, 7))

    expect(await left()).toEqual(['t0', 't1', 't2', 't7', 't8', 't9'])
  })

  it('stay for a while in a busy lane, until their node is through or nothing is left to read', async () => {
    const { add, claim, turn, left, callsOf } = setUp(await connect())
    await add(250)
    let running = await claim(1)
    const before = { xtrim: await callsOf('xtrim'), xdel: await callsOf('xdel') }
    let most = 0
    for (let taken = 1; taken < 250; taken++) {
      running = await turn(running, 1)
      most = Math.max(most, ((await left())?.length ?? 0) - (250 - taken))
    }
    expect(most).toBeGreaterThan(10)
    // A node of them, and as many as are waiting to be looked at together.
    expect(most).toBeLessThanOrEqual(100 + 64)

    expect(await turn(running, 1)).toEqual([])

    expect(await left()).toEqual([])
    expect(await callsOf('xdel')).toBe(before.xdel)
    expect(await callsOf('xtrim')).toBeGreaterThan(before.xtrim)
  })

  it('do not stay where their rows do not, which would look lost if they were read again', async () => {
    const { add, claim, turn, left } = setUp(await connect())
    await add(10)
    let running = await claim(2)
    for (let taken = 2; taken < 10; taken += 2) {
      running = await turn(running, 2, 0)
      expect(await left()).toHaveLength(10 - taken)
    }
  })

  it('do not pile up behind one that takes long', async () => {
    const { add, claim, turn, left } = setUp(await connect())
    await add(400)
    const [long] = await claim(1)
    let running = await claim(1)
    for (let taken = 2; taken < 300; taken++) running = await turn(running, 1)

    expect((await left())?.length).toBeLessThanOrEqual(1 + 1 + 100 + 64)
    expect((await left())?.[0]).toBe(long?.taskId)
  })

  it('are all that ever goes, whatever happens', async () => {
    const connected = await connect()
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), count: fc.integer({ min: 1, max: 9 }) }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('claim' as const), count: fc.integer({ min: 1, max: 9 }) }) },
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('finish' as const),
          from: fc.nat(20),
          count: fc.integer({ min: 1, max: 6 }),
        }),
      },
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('turn' as const),
          from: fc.nat(20),
          count: fc.integer({ min: 1, max: 6 }),
          asked: fc.integer({ min: 1, max: 6 }),
        }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('regroup' as const) }) },
    )
    await assertProperty(
      [fc.array(step, { maxLength: 30, size: 'max' })],
      async ([steps], doing) => {
        const { client, stream, add, finish, turn, left } = setUp(connected)
        // What lies in the stream and is not over, in its order; what of it the group has not read; and what is running.
        let [present, unread]: [string[], string[]] = [[], []]
        const held: Claim[] = []
        const over = new Set<string>()
        let added = 0
        const end = (from: number, count: number): Claim[] => {
          const ended = held.splice(from % (held.length + 1), count)
          for (const { taskId } of ended) over.add(taskId)
          present = present.filter((id) => !over.has(id))
          unread = unread.filter((id) => !over.has(id))
          return ended
        }
        const take = (count: number): string[] => {
          const running = new Set(held.map(({ taskId }) => taskId))
          const expected: string[] = []
          while (expected.length < count && unread.length > 0) {
            const id = unread.shift() ?? ''
            // A second entry of a task that is running is parked; here it is the first one, read again.
            if (running.has(id)) present = present.filter((other) => other !== id)
            else expected.push(id)
          }
          return expected
        }
        for (const one of steps) {
          doing(one)
          let hasReadAll = false
          if (one.do === 'add') {
            await add(one.count)
            const ids = Array.from({ length: one.count }, () => `t${String(added++)}`)
            present.push(...ids)
            unread.push(...ids)
          } else if (one.do === 'finish') {
            await finish(end(one.from, one.count))
          } else if (one.do === 'claim' || one.do === 'turn') {
            const asked = one.do === 'claim' ? one.count : one.asked
            const ended = one.do === 'turn' ? end(one.from, one.count) : []
            const expected = take(asked)
            const claims = await turn(ended, asked)
            expect(claims.map(({ taskId }) => taskId)).toEqual(expected)
            held.push(...claims)
            hasReadAll = expected.length < asked && added > 0
          } else if (added > 0) {
            await client.xGroupDestroy(stream, 'runner')
            await client.xGroupCreate(stream, 'runner', '0')
            unread = [...present]
          }
          // What was left waits for the call that follows a read which has not found enough.
          await expect
            .poll(async () => ((await left()) ?? []).filter((id) => hasReadAll || !over.has(id ?? '')))
            .toEqual(present)
        }
      },
      { numRuns: 100 },
    )
  })
})
