import { defineTaskHandler } from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import { redisQueueAdapter } from '../../src/index.js'
import { fill, mail, read, taskIds } from '../contract/lanePort/harness.js'
import { redisHarness } from '../contract/lanePort/redisHarness.js'
import { startService } from '../support/service.js'
import { until } from '../support/until.js'

const echo = defineTaskHandler({ type: 'mail', version: 1, handler: (_, payload: unknown) => payload })

describe('what somebody else has written into Redis', () => {
  it('in place of a row is set aside, and holds up nobody', async () => {
    const service = await startService({ visibilityTimeoutMs: 300 })
    const { runner, client, prefix, work } = service
    const stream = `${prefix}tasks:queue:mail:v1`
    const before = await runner.submit({ type: 'mail', handlerVersion: 1, payload: 'before' })
    for (const taskId of ['text', 'list', 'a:steps', '__proto__', 'x'.repeat(10_000)]) {
      await client.rPush(`${prefix}tasks:row:${taskId}`, 'no row')
      await client.xAdd(stream, '*', { taskId, type: 'mail', handlerVersion: '1' })
    }
    const after = await runner.submit({ type: 'mail', handlerVersion: 1, payload: 'after' })
    work([echo], { concurrency: 2 })
    expect(await runner.waitFor(before.id, { timeoutMs: 10_000 })).toBe('before')
    expect(await runner.waitFor(after.id, { timeoutMs: 10_000 })).toBe('after')
    await until(async () => (await client.xLen(stream)) === 0, { description: 'an empty lane' })
    expect(await client.xLen(`${prefix}tasks:unreadable`)).toBe(5)
  })

  it('as bytes that are no text, or as fields of any number, is set aside or passed over', async () => {
    const harness = await redisHarness()
    const { root, command } = harness
    await fill(harness, mail, 'a')
    const garbage = [
      ['taskId', ''],
      ['type', 'mail', 'type', 'post', 'type', ''],
      Array.from({ length: 2_000 }, (_, n) => String(n)),
      ['__proto__', 'x', 'constructor', 'y'],
      [Buffer.from([0xff, 0xfe, 0x00]).toString('latin1'), '\0'],
    ]
    for (const fields of garbage) await command('XADD', `${root}queue:mail:v1`, '*', ...fields)
    await fill(harness, mail, 'b')
    expect(taskIds(await read(harness, { slots: 10 }))).toEqual(['a', 'b'])
    expect(await command('XLEN', `${root}unreadable`)).toBe(garbage.length)
  })

  it('into the schedule is set aside if it names no task that could be', async () => {
    const harness = await redisHarness()
    const { port, ask, root, command } = harness
    const member = (more: string): string => `{"taskId":"x","type":"mail",${more}}`
    const unreadable = [
      member('"handlerVersion":0'),
      member('"handlerVersion":-1'),
      member('"handlerVersion":1.5'),
      member('"handlerVersion":1e400'),
      member('"handlerVersion":9007199254740993'),
      member('"handlerVersion":"one"'),
      member('"handlerVersion":{}'),
      member(`"handlerVersion":${'['.repeat(2_000)}${']'.repeat(2_000)}`),
      '{"taskId":"\\ud800","type":"mail","handlerVersion":1',
      '{"taskId":{},"type":"mail","handlerVersion":1}',
      '\0',
      Buffer.from([0xff, 0xfe]).toString('latin1'),
    ]
    for (const one of unreadable) await command('ZADD', `${root}scheduler`, '1', one)
    await command('ZADD', `${root}scheduler`, '2', '{"taskId":"good","type":"mail","handlerVersion":1}')
    await command('ZADD', `${root}scheduler`, '2', member('"handlerVersion":9007199254740991'))
    await ask(port.promote({ promoterId: 'w', roleMs: 100, limit: 100 }))
    expect(await harness.parked()).toBe(0)
    expect(await command('XLEN', `${root}unreadable`)).toBe(unreadable.length)
    expect(await command('XLEN', `${root}queue:mail:v9007199254740991`)).toBe(1)
    expect(taskIds(await read(harness, { slots: 2 }))).toEqual(['good'])
  })
})

describe('a lease that another core has taken', () => {
  it.each(['a"b\\', '{"taskId":"x"}', ',"type":"post"', 'a/b', 'ä😀', '__proto__'])(
    'under the id %j runs when it is due',
    async (taskId) => {
      const { runner, client, prefix, work } = await startService()
      await using other = redisQueueAdapter({ client, serviceName: 'other', topicPrefix: prefix })
      const taken = { type: 'mail', key: 'k', taskId }
      expect(await other.acquireIdempotencyLease?.(taken)).toBe(taskId)
      const notBefore = new Date(Date.now() + 150)
      const options = { type: 'mail', handlerVersion: 1, payload: { n: 1 }, idempotencyKey: 'k', notBefore }
      expect((await runner.submit(options)).id).toBe(taskId)
      work([echo])
      expect(await runner.waitFor(taskId, { timeoutMs: 10_000 })).toEqual({ n: 1 })
    },
  )

  it('under an id that lies beside a row is refused', async () => {
    const { client, prefix } = await startService()
    await using other = redisQueueAdapter({ client, serviceName: 'other', topicPrefix: prefix })
    await expect(other.acquireIdempotencyLease?.({ type: 'mail', key: 'k', taskId: 'a:steps' })).rejects.toMatchObject({
      name: 'InvalidArgumentError',
      property: 'id',
    })
    expect(await client.keys(`${prefix}*`)).toEqual([])
  })
})
