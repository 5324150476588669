import { defineTaskHandler } from '@furystack/task-runner'
import { expect, it } from 'vitest'

import { serverOfTest } from '../support/redisServer.js'
import { startService } from '../support/service.js'
import { until } from '../support/until.js'

/** Commands that clients sent, not those inside scripts. */
const countCommands = async (
  { client }: Awaited<ReturnType<typeof startService>>,
  forMs: number,
): Promise<Record<string, number>> => {
  const sent: Record<string, number> = {}
  const monitor = client.duplicate()
  monitor.on('error', () => undefined)
  await monitor.connect()
  await monitor.monitor((line) => {
    const match = /^\S+ \[\d+ ([^\]]+)\] "(\w+)"/.exec(String(line))
    if (match && match[1] !== 'lua') sent[match[2] ?? ''] = (sent[match[2] ?? ''] ?? 0) + 1
  })
  // Counting over a span of time is the point here; nothing is being waited for.
  await new Promise((resolve) => setTimeout(resolve, forMs))
  monitor.destroy()
  return sent
}

const total = (sent: Record<string, number>): number => Object.values(sent).reduce((sum, n) => sum + n, 0)

it.each([
  ['at the defaults', {}, 7],
  ['with long waits', { blockTimeoutMs: 60_000, schedulerIntervalMs: 60_000 }, 2],
])(
  'an idle worker is quiet %s, whatever its slots and lanes',
  async (_name, options, perSecond) => {
    const server = await serverOfTest()
    const service = await startService({ url: server.url, ...options })
    let ran = 0
    const handlers = Array.from({ length: 30 }, (_, n) =>
      defineTaskHandler({
        type: `type-${String(n)}`,
        version: 1,
        handler: async () => {
          ran++
          return Promise.resolve()
        },
      }),
    )
    service.work(handlers, { concurrency: 50 })
    const tasks = await Promise.all(
      handlers.map(({ type }) => service.runner.submit({ type, payload: 1, handlerVersion: 1 })),
    )
    await until(
      async () => {
        const rows = await Promise.all(tasks.map(({ id }) => service.runner.get(id)))
        return rows.every((row) => row?.status === 'succeeded')
      },
      { description: 'all to be over' },
    )
    const sent = await countCommands(service, 3_000)
    expect(total(sent) / 3, JSON.stringify(sent)).toBeLessThanOrEqual(perSecond)

    // And it is still awake: neither latency nor lateness waits for the long waits.
    await service.runner.submit({ type: 'type-3', payload: 1, handlerVersion: 1 })
    await until(() => ran === 31, { description: 'the bell to wake it' })
    await service.runner.submit({
      type: 'type-4',
      payload: 1,
      handlerVersion: 1,
      notBefore: new Date(Date.now() + 300),
    })
    await until(() => ran === 32, { description: 'the schedule to wake it' })
  },
  30_000,
)
