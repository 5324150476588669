import {
  DEFAULT_RETENTION_POLICY,
  defineTaskHandler,
  isTerminalStatus,
  type SubmitOptions,
} from '@furystack/task-runner'
import { expect, it } from 'vitest'

import { startRedisServer } from '../support/redisServer.js'
import { startService } from '../support/service.js'
import { until } from '../support/until.js'

const DAY_MS = 86_400_000
const BRIEFLY = { keepRowDays: 300 / DAY_MS, keepFailedRowDays: 300 / DAY_MS }
const NOTHING = { keepRowDays: 0, keepFailedRowDays: 0 }
const TYPES = ['plain', 'tree', 'leaf', 'failing', 'capped'] as const

/** What stands for the service and not for its tasks: lanes, roles, and bells that nobody waits at. */
const isOfService = (key: string): boolean =>
  /tasks:(lanes|serving|unserved|promoter|leader:|bell|capbell:|wake:|queue:)/.test(key)

const handlers = [
  defineTaskHandler<number, number>({
    type: 'plain',
    version: 1,
    handler: (ctx, n) => {
      ctx.now()
      return Promise.resolve(n)
    },
  }),
  defineTaskHandler<number, number>({ type: 'leaf', version: 1, handler: (_ctx, n) => Promise.resolve(n) }),
  defineTaskHandler<number, number>({ type: 'capped', version: 1, handler: (_ctx, n) => Promise.resolve(n) }),
  defineTaskHandler({ type: 'failing', version: 1, handler: () => Promise.reject(new Error('no')) }),
  defineTaskHandler<number, unknown>({
    type: 'tree',
    version: 1,
    handler: async (ctx, depth) => {
      const children = await Promise.all([
        ctx.spawnChild<number, unknown>(depth > 1 ? 'tree' : 'leaf', depth - 1),
        ctx.spawnChild<number, number>('leaf', depth),
      ])
      // Left behind, and cancelled when this one ends.
      await ctx.spawnChild('nobody', 1)
      return ctx.awaitChildren(children)
    },
  }),
]

it.each([
  ['is over soon', BRIEFLY],
  ['leaves nothing', NOTHING],
])(
  'T55 G8 leaves no key of tasks of any kind whose time %s',
  async (_name, retentionPolicy) => {
    await using server = await startRedisServer()
    const service = await startService({
      url: server.url,
      idempotencyTtlSec: 1,
      maintenanceIntervalMs: 50,
      concurrencyLimits: { capped: 2 },
    })
    const { runner, client, prefix } = service
    const submit = (type: string, payload: number, more: Partial<SubmitOptions<number>> = {}) =>
      runner.submit({ type, payload, handlerVersion: 1, retentionPolicy, ...more })
    const worker = service.work(handlers, { concurrency: 8 })

    const tasks = await Promise.all([
      ...Array.from({ length: 20 }, (_, n) => submit('plain', n)),
      ...Array.from({ length: 10 }, (_, n) => submit('capped', n)),
      ...Array.from({ length: 10 }, (_, n) => submit('failing', n)),
      ...Array.from({ length: 3 }, () => submit('tree', 3)),
      ...Array.from({ length: 10 }, (_, n) => submit('plain', n, { notBefore: new Date(Date.now() + 200) })),
      ...Array.from({ length: 10 }, (_, n) => submit('plain', n, { idempotencyKey: `key-${String(n)}` })),
    ])
    const parked = await submit('plain', 1, { notBefore: new Date(Date.now() + DAY_MS) })
    const draft = await runner.draft({ type: 'plain', payload: 1, handlerVersion: 1, retentionPolicy })
    await runner.cancel(parked.id, 'not needed')
    await runner.cancel(draft.id)
    await until(
      async () => {
        const rows = await Promise.all(tasks.map(({ id }) => runner.get(id)))
        return rows.every((row) => row === undefined || isTerminalStatus(row.status))
      },
      { description: 'all to be over' },
    )

    const left = async (): Promise<string[]> => {
      const keys: string[] = []
      for (const key of await client.keys(`${prefix}*`)) {
        if (isOfService(key)) continue
        // Ended by a canceller: there for a last look.
        const ms = await client.pTTL(key)
        if (retentionPolicy === NOTHING && ms > 0 && ms <= 60_000 && key.includes(`:row:`)) continue
        keys.push(key)
      }
      return keys
    }
    // Told by name, should some stay.
    const last: { keys?: string[] } = {}
    await until(async () => (last.keys = await left()).length === 0).catch(() => undefined)
    expect(last.keys).toEqual([])
    for (const type of TYPES) expect(await client.xLen(`${prefix}tasks:queue:${type}:v1`)).toBe(0)
    expect(service.troubles).toEqual([])
    await worker[Symbol.asyncDispose]()
  },
  40_000,
)

it('keeps rows by default for 30 days, and lets the server forget them then', async () => {
  const { runner, client, prefix, work } = await startService()
  work(handlers)
  const task = await runner.submit({ type: 'leaf', payload: 1, handlerVersion: 1 })
  await runner.waitFor(task.id)
  const { ttlAfterTerminalDays } = DEFAULT_RETENTION_POLICY
  const ms = await client.pTTL(`${prefix}tasks:row:${task.id}`)
  expect(ms).toBeGreaterThan(ttlAfterTerminalDays * DAY_MS - 60_000)
  expect(ms).toBeLessThanOrEqual(ttlAfterTerminalDays * DAY_MS)
})
