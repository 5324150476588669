import { expect, it } from 'vitest'

import { type Keys, keys as keysOf } from '../../src/keys/keys.js'
import { lane } from '../../src/keys/lane.js'
import { parkedMember } from '../../src/scripts/parkedMember.js'
import { promoteDue } from '../../src/scripts/promoteDue.js'
import { connectClient } from '../support/connectClient.js'
import { connectTo } from '../support/connectTo.js'
import { serverOfTest } from '../support/redisServer.js'

const LANES = [lane('mail', 1), lane('scan', 2), lane('render', 1, ['gpu'])]

/** A server of its own, because what it executes is counted. */
const setUp = async () => {
  const { url } = await serverOfTest()
  const client = await connectClient({ url })
  const keys = keysOf('svc/')
  const connection = connectTo(client)
  const promote = (limit: number) => promoteDue(connection, keys, 'runner', { promoterId: 'w', roleMs: 60_000, limit })
  const park = (taskId: string, index: number) =>
    client.zAdd(keys.scheduler, { score: index + 1, value: parkedMember(taskId, LANES[index % LANES.length]!) })
  const idsIn = async (of = LANES[0]!) =>
    (await client.xRange(keys.queue(of), '-', '+'))?.map((entry) => entry?.message['taskId'])
  return { client, keys, promote, park, idsIn, close: () => connection[Symbol.asyncDispose]() }
}
type SetUp = Awaited<ReturnType<typeof setUp>>

const callsOf = async ({ client }: SetUp, step: () => Promise<unknown>): Promise<Record<string, number>> => {
  await client.configResetStat()
  await step()
  const calls = (await client.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)
  return Object.fromEntries([...calls].map(([, name, count]) => [name as string, Number(count)]))
}

it('costs one command a task and a few a lane and a call, however many are due', async () => {
  const given = await setUp()
  const costs: Array<Record<string, number>> = []
  for (const backlog of [600, 6_000]) {
    await Promise.all(Array.from({ length: backlog }, (_, index) => given.park(`task-${String(index)}`, index)))
    // What is made once: the script, lanes and groups; and the bells have been heard.
    await given.promote(3)
    await Promise.all(LANES.map((of) => given.client.del(given.keys.bell(of))))
    costs.push(await callsOf(given, () => given.promote(300)))
    await given.client.del(given.keys.scheduler)
  }
  await given.close()

  const [cost = {}] = costs
  expect(costs).toEqual([cost, cost])
  const { evalsha, xadd, exists, lpush, ...rest } = cost
  expect({ evalsha, xadd, exists, lpush }).toEqual({ evalsha: 1, xadd: 300, exists: LANES.length, lpush: LANES.length })
  expect(rest).toMatchObject({ zrangebyscore: 1, zremrangebyrank: 1 })
  expect(Object.values(rest).reduce((sum, calls) => sum + calls, 0)).toBeLessThan(12)
})

const [mail, scan] = [lane('mail', 1), lane('scan', 2)]
const [a, b, c] = ['a', 'b', 'c'].map((taskId) => parkedMember(taskId, mail)) as [string, string, string]

it.each([
  ['the lane of one', (keys: Keys) => keys.queue(scan), [a, parkedMember('x', scan), b, c]],
  ['what is set aside', (keys: Keys) => keys.unreadable, [a, 'unreadable', b, c]],
])('writes each once, and moves those behind, if something else is in the place of %s', async (_, keyOf, members) => {
  const given = await setUp()
  const { client, keys, promote, idsIn } = given
  await client.set(keyOf(keys), 'no stream')
  for (const [index, value] of members.entries()) await client.zAdd(keys.scheduler, { score: index + 1, value })

  for (let call = 0; call < 3; call++) await promote(2)
  await given.close()

  expect(await idsIn()).toEqual(['a', 'b', 'c'])
  expect(await client.zRange(keys.scheduler, 0, -1)).toEqual([members[1]])
})

it.each(['plain', 'a"b\\', 'a\\', '","type":"scan"', 'ä😀', '\u0001', 'a:b c{d}', '__proto__', '{"taskId":"x"}'])(
  'moves the task %j',
  async (taskId) => {
    const given = await setUp()
    const { client, keys, promote, idsIn } = given
    await client.zAdd(keys.scheduler, [
      { score: 1, value: parkedMember(taskId, LANES[0]!) },
      { score: 2, value: parkedMember(`${taskId}!`, LANES[0]!) },
      { score: 3, value: `${parkedMember(taskId, LANES[0]!).slice(0, -1)},"n":1}` },
      { score: 4, value: `${parkedMember('x', LANES[0]!).slice(0, -1)},"taskId":"last"}` },
    ])

    expect(await promote(10)).toMatchObject({ moved: 4 })
    await given.close()

    expect(await idsIn()).toEqual([taskId, `${taskId}!`, taskId, 'last'])
    expect(await client.exists(keys.unreadable)).toBe(0)
  },
)
