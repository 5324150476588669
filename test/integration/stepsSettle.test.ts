import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'

import { defineTaskHandler, isTerminalStatus, type TaskContext } from '@furystack/task-runner'
import { expect, it, onTestFinished } from 'vitest'

import { deferred } from '../support/deferred.js'
import { outcomeOf } from '../support/outcomeOf.js'
import { connectClient, uniquePrefix } from '../support/redis.js'
import { startRedisServer } from '../support/redisServer.js'
import { type FaultScene, SERVER_FAULTS } from '../support/serverFaults.js'
import { serviceOn } from '../support/service.js'
import { startTcpProxy } from '../support/tcpProxy.js'
import { until } from '../support/until.js'

type Step = (ctx: TaskContext<number>) => unknown

const stepsOn = (url: string): Record<string, Step> => ({
  spawnChild: async (ctx) => (await ctx.spawnChild('child', 1)).taskId,
  'spawnChild of several': (ctx) => Promise.all([1, 2, 3].map((n) => ctx.spawnChild('child', n))),
  awaitChildren: async (ctx) => ctx.awaitChildren([await ctx.spawnChild<number, number>('child', 1)]),
  awaitChildrenSettled: async (ctx) => ctx.awaitChildrenSettled([await ctx.spawnChild<number, number>('child', 1)]),
  spawnChildAndAwait: (ctx) => ctx.spawnChildAndAwait<number, number>('child', 2),
  'a short sleep': (ctx) => ctx.sleep(20),
  'a long sleep': (ctx) => ctx.sleep(300),
  'now and random': (ctx) => [ctx.now(), ctx.random()],
  fetch: async (ctx) => (await ctx.fetch(url)).text(),
  heartbeat: (ctx) => ctx.heartbeat(),
  reportProgress: (ctx) => ctx.reportProgress({ percent: 50, meta: 'half' }),
  nothing: () => undefined,
})

const CHILDREN: Record<string, number> = {
  spawnChild: 1,
  'spawnChild of several': 3,
  awaitChildren: 1,
  awaitChildrenSettled: 1,
  spawnChildAndAwait: 1,
}

const answering = async (): Promise<string> => {
  const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`
}

it.each(Object.entries(SERVER_FAULTS).filter(([, { isFirst }]) => !isFirst))(
  'the steps of a handler, while Redis %s, end with its run or after it, and each is done once in the end',
  { timeout: 120_000 },
  async (_, fault) => {
    await using server = await startRedisServer({ persistent: true, args: ['--maxmemory-policy', 'noeviction'] })
    await using proxy = await startTcpProxy({ targetPort: server.port })
    const scene: FaultScene = { server, proxy, admin: () => connectClient({ url: server.url }) }
    const client = await connectClient({ url: proxy.url })
    const { runner, work, troubles, dispose } = serviceOn(client, uniquePrefix('steps'), {
      commandDeadlineMs: 300,
      visibilityTimeoutMs: 1_500,
      schedulerIntervalMs: 200,
      sweepIntervalMs: 200,
      parkSleepsAfterMs: 100,
    })
    const steps = Object.entries(stepsOn(await answering()))
    const gate = deferred<undefined>()
    const arrived = new Set<string>()
    const handlers = steps.map(([name, step], n) =>
      defineTaskHandler<number, unknown>({
        type: `step-${String(n)}`,
        version: 1,
        retryPolicy: { maxAttempts: 50 },
        handler: async (ctx) => {
          arrived.add(name)
          await gate.promise
          await step(ctx)
          return name
        },
      }),
    )
    const child = defineTaskHandler({ type: 'child', version: 1, handler: (_ctx, n: number) => n })
    work([...handlers, child], { concurrency: steps.length + 4 })
    const tasks = await runner.submitMany(
      steps.map((_step, n) => ({ type: `step-${String(n)}`, handlerVersion: 1, payload: n })),
    )
    await until(() => arrived.size === steps.length, { description: 'all handlers to have begun' })

    await fault.begin(scene)
    gate.resolve(undefined)
    // What cannot be recorded ends the run; the handler does not get to see that, so that it cannot go on regardless.
    await until(() => troubles.length > 0, { timeoutMs: 30_000, description: 'the runner to tell of it' })

    await fault.end(scene)
    for (const [n, [name]] of steps.entries()) {
      const taskId = tasks[n]?.id ?? ''
      const task = await until(
        async () => {
          const row = await runner.get(taskId)
          return row !== undefined && isTerminalStatus(row.status) && row
        },
        { timeoutMs: 60_000, description: `"${name}" to have ended` },
      )
      expect([name, task.status, task.result]).toEqual([name, 'succeeded', name])
      expect([name, task.childTaskIds.length]).toEqual([name, CHILDREN[name] ?? 0])
    }
    expect(await outcomeOf(dispose)).toEqual({ kind: 'fulfilled' })
  },
)
