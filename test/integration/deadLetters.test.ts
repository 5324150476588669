import {
  defineTaskHandler,
  MemoryTaskStore,
  ResendRefusedError,
  TaskRunnerTelemetryToken,
} from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import type { LaneEvent } from '../../src/index.js'
import { type Service, startService } from '../support/service.js'
import { until } from '../support/until.js'

const echo = defineTaskHandler({ type: 'mail', version: 1, handler: (_, payload: unknown) => payload })
const broken = defineTaskHandler({ type: 'mail', version: 1, handler: () => Promise.reject(new Error('broken')) })

const streamOf = ({ prefix }: Service): string => `${prefix}tasks:queue:mail:v1`

const submit = ({ runner }: Service, payload: unknown = 1) =>
  runner.submit({ type: 'mail', handlerVersion: 1, payload })

/** Lets so many tasks fail. */
const fail = async (service: Service, count: number): Promise<string[]> => {
  const { runner, work } = service
  const worker = work([broken])
  const tasks = await Promise.all(Array.from({ length: count }, () => submit(service)))
  await Promise.all(tasks.map(({ id }) => runner.waitFor(id).catch(() => undefined)))
  await worker[Symbol.asyncDispose]()
  return tasks.map(({ id }) => id)
}

const unreadable = (service: Service, count: number) =>
  until(
    async () => {
      const { letters } = await service.runner.deadLetters.list({ reason: 'unreadable' })
      return letters.length === count && letters
    },
    { description: `${String(count)} entries to have been set aside` },
  )

describe('entries that cannot be read', () => {
  it('are dead letters as they were, can be put back, and removed', async () => {
    const service = await startService()
    const { runner, client, prefix, work } = service
    const events: LaneEvent[] = []
    runner.events$.subscribe((event) => events.push(event))
    await client.xAdd(streamOf(service), '*', { nonsense: 'ä€', more: '' })
    const worker = work([echo])
    const [letter] = await unreadable(service, 1)
    expect(letter).toMatchObject({
      kind: 'entry',
      type: 'mail',
      lane: 'mail:v1',
      fields: [
        ['nonsense', 'ä€'],
        ['more', ''],
      ],
      isCut: false,
    })
    const id = letter!.id
    expect(events).toContainEqual({ kind: 'deadLettered', id, lane: 'mail:v1', reason: 'unreadable' })
    expect(await runner.deadLetters.get(id)).toEqual(letter)
    expect(await runner.deadLetters.count({ type: 'mail' })).toBe(1)
    await worker[Symbol.asyncDispose]()

    const resending = Array.from({ length: 5 }, () => runner.deadLetters.resend(id))
    const results = await Promise.allSettled(resending)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const entries = await client.xRange(streamOf(service), '-', '+')
    expect(entries?.map(({ message }) => ({ ...message }))).toEqual([{ nonsense: 'ä€', more: '' }])
    expect(await runner.deadLetters.count()).toBe(0)

    work([echo])
    const [again] = await unreadable(service, 1)
    await runner.deadLetters.discard(again!.id)
    expect(await runner.deadLetters.get(again!.id)).toBeUndefined()
    expect(await client.xLen(`${prefix}tasks:unreadable`)).toBe(0)
  })

  it('are cut if they are too large, and not put back then', async () => {
    const service = await startService()
    const { runner, client, work } = service
    await client.xAdd(streamOf(service), '*', { nonsense: 'x'.repeat(100_000) })
    work([echo])
    const [letter] = await unreadable(service, 1)
    expect(letter).toMatchObject({ isCut: true, fields: [['nonsense', 'x'.repeat(512)]] })
    await expect(runner.deadLetters.resend(letter!.id)).rejects.toThrow(ResendRefusedError)
    expect(await runner.deadLetters.count()).toBe(1)
  })

  it('lie beside the failed tasks of a store of its own', async () => {
    const store = new MemoryTaskStore()
    const service = await startService({ store })
    const { runner, client, work } = service
    const [first] = await fail(service, 1)
    await client.xAdd(streamOf(service), '*', { nonsense: 'yes' })
    work([broken])
    const [entry] = await unreadable(service, 1)
    const [last] = await fail(service, 1)
    const ids: string[] = []
    let cursor: string | undefined
    do {
      const page = await runner.deadLetters.list({ limit: 1, cursor })
      ids.push(...page.letters.map(({ id }) => id))
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(ids).toEqual([last, entry!.id, first])
    expect(await runner.deadLetters.count()).toBe(3)
    await runner.deadLetters.resend(entry!.id)
    await unreadable(service, 1)
    expect(await runner.deadLetters.discard({ type: 'mail' })).toBe(3)
    expect(await runner.deadLetters.count()).toBe(0)
  })
})

describe('the index of dead letters', () => {
  it('passes over rows that have gone, and forgets them', async () => {
    const service = await startService()
    const { runner, client, prefix } = service
    const ids = await fail(service, 6)
    for (const id of ids.slice(0, 4)) await client.del(`${prefix}tasks:row:${id}`)
    const { letters, cursor } = await runner.deadLetters.list()
    expect(letters.map(({ id }) => id).sort()).toEqual(ids.slice(4).sort())
    expect(cursor).toBeUndefined()
    expect(await client.zCard(`${prefix}tasks:deadletters`)).toBe(2)
    expect(await client.zCard(`${prefix}tasks:deadletters:mail`)).toBe(2)
  })

  it('does not grow by rows that go by themselves', async () => {
    const service = await startService()
    const { client, prefix } = service
    for (let round = 0; round < 10; round++) {
      for (const id of await fail(service, 20)) await client.del(`${prefix}tasks:row:${id}`)
    }
    expect(await client.zCard(`${prefix}tasks:deadletters`)).toBeLessThanOrEqual(40)
    expect(await client.zCard(`${prefix}tasks:deadletters:mail`)).toBeLessThanOrEqual(40)
    expect(await service.runner.deadLetters.count()).toBe(0)
  })

  it('is written in the step that ends a task, and left in the one that queues it again', async () => {
    const service = await startService()
    const { runner, client, prefix, injector } = service
    const told: unknown[] = []
    const telemetry = injector.get(TaskRunnerTelemetryToken)
    telemetry.addListener('onTaskDeadLettered', (event) => told.push(event))
    telemetry.addListener('onTaskResent', (event) => told.push(event))
    const [id] = await fail(service, 1)
    expect(await client.zRange(`${prefix}tasks:deadletters`, 0, -1)).toEqual([`f|mail|${id ?? ''}`])
    await runner.deadLetters.resend(id ?? '')
    expect(await client.exists([`${prefix}tasks:deadletters`, `${prefix}tasks:deadletters:mail`])).toBe(0)
    expect(await client.xLen(streamOf(service))).toBe(1)
    expect(told).toEqual([
      { taskId: id, type: 'mail', reason: 'failed', error: { name: 'Error', message: 'broken' } },
      { taskId: id, type: 'mail', reason: 'failed' },
    ])
  })
})
