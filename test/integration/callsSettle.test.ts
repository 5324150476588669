import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { defineTaskHandler, type Worker } from '@furystack/task-runner'
import { lastValueFrom, type Observable } from 'rxjs'
import { describe, expect, it, onTestFinished } from 'vitest'

import { LaneError, lane, openLanePort, redisQueueAdapter } from '../../src/index.js'
import { deferred } from '../support/deferred.js'
import { connectClient, uniquePrefix } from '../support/redis.js'
import { type RedisServer, startRedisServer } from '../support/redisServer.js'
import { serviceOn } from '../support/service.js'
import { type FaultScene, SERVER_FAULTS } from '../support/serverFaults.js'
import { type Outcome, outcomeOf } from '../support/outcomeOf.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { until } from '../support/until.js'

const DEADLINE_MS = 300

const ask = (reply$: Observable<unknown>): Promise<unknown> => lastValueFrom(reply$, { defaultValue: undefined })

const effectOf = (outcome: Outcome): string =>
  outcome.kind === 'rejected' ? (outcome.error as LaneError).effect : outcome.kind

describe('every call, while Redis', () => {
  it.each(Object.entries(SERVER_FAULTS))(
    '%s, settles with a typed error that tells its effect',
    { timeout: 60_000 },
    async (_, fault) => {
      const warnings: Error[] = []
      const onWarning = (warning: Error): void => void warnings.push(warning)
      process.on('warning', onWarning)
      onTestFinished(() => void process.off('warning', onWarning))

      await using server = await startRedisServer({ persistent: true, args: ['--maxmemory-policy', 'noeviction'] })
      await using proxy = await startTcpProxy({ targetPort: server.port })
      const scene: FaultScene = { server, proxy, admin: () => connectClient({ url: server.url }) }
      const client = await connectClient({ url: proxy.url })
      const prefix = uniquePrefix('settle')
      if (fault.isFirst) await fault.begin(scene)

      const { runner, troubles, dispose } = serviceOn(client, prefix, { commandDeadlineMs: DEADLINE_MS })
      const options = { client, serviceName: 'other', topicPrefix: prefix, commandDeadlineMs: DEADLINE_MS }
      const adapter = redisQueueAdapter(options)
      const port = openLanePort(options)
      onTestFinished(async () => {
        await adapter[Symbol.asyncDispose]()
        await port[Symbol.asyncDispose]()
      })
      const idle = defineTaskHandler({ type: 'idle', version: 1, handler: () => 1 })
      const register = (): Worker =>
        runner.registerWorker({ name: 'w', handlers: [idle], concurrency: 2, tags: [], compatibleVersions: {} })
      const subscribe = (workerId: string) =>
        adapter.subscribe({
          workerId,
          concurrency: 2,
          tags: [],
          types: ['held'],
          compatibleVersions: {},
          shouldDrain: () => false,
          onClaim: (claim) => {
            claimed.resolve(claim)
            return gate.promise
          },
        })
      const claimed = deferred<Parameters<typeof adapter.heartbeat>[0]>()
      const gate = deferred<{ kind: 'success' }>()
      const holder = subscribe('holder')
      const worker = register()
      let [draft, task] = ['a draft', 'a task']
      if (!fault.isFirst) {
        await adapter.enqueue({ taskId: 'held', type: 'held', handlerVersion: 1 })
        await claimed.promise
        draft = (await runner.draft({ type: 'probe', handlerVersion: 1, payload: 1 })).id
        task = (await runner.submit({ type: 'other', handlerVersion: 1, payload: 1 })).id
      }

      const probe = { type: 'probe', handlerVersion: 1, payload: 1 }
      const other = { ...probe, type: 'other' }
      const slots = ['w-slot-0']
      const lanes = [{ lane: lane('nothing', 1), visibilityTimeoutMs: 60_000 }]
      const calls: Record<string, () => unknown> = {
        submit: () => runner.submit(other),
        'submit with a key': () => runner.submit({ ...other, idempotencyKey: 'k' }),
        'submit with a parent': () => runner.submit({ ...other, parentTaskId: task }),
        'submit for later': () => runner.submit({ ...other, notBefore: new Date(Date.now() + 60_000) }),
        submitMany: () => runner.submitMany(Array.from({ length: 600 }, () => other)),
        draft: () => runner.draft(other),
        start: () => runner.start(draft),
        cancel: () => runner.cancel(task, 'no longer'),
        get: () => runner.get(task),
        getTree: () => runner.getTree(task),
        waitFor: () => runner.waitFor(task, { timeoutMs: 600_000, signal: AbortSignal.timeout(4 * DEADLINE_MS) }),
        updates$: () =>
          new Promise<void>((resolve, reject) => {
            const subscription = runner.updates$(task).subscribe({ next: () => resolve(), error: reject })
            onTestFinished(() => subscription.unsubscribe())
          }),
        subscribe: () => runner.subscribe(task, () => undefined)[Symbol.dispose](),
        subscribeByType: () => runner.subscribeByType('mail', () => undefined)[Symbol.dispose](),
        'registerWorker, and its end': () => register()[Symbol.asyncDispose](),
        'drain of a worker': () => worker.drain(),
        enqueue: () => adapter.enqueue({ taskId: 'a', type: 'nobody', handlerVersion: 1 }),
        acquireIdempotencyLease: () => adapter.acquireIdempotencyLease?.({ type: 'mail', key: 'k', taskId: 'a' }),
        'subscribe of an adapter, and its end': () => subscribe('another')[Symbol.asyncDispose]?.(),
        read: () => ask(port.read({ workerId: 'w', slots, lanes })),
        sweep: () => ask(port.sweep({ workerId: 'w', slots, lanes })),
        listen: () => ask(port.listen({ workerId: 'w', slots, lanes, schedule: true, blockMs: 50 })),
        wake: () => ask(port.wake('w')),
        promote: () => ask(port.promote({ promoterId: 'w', roleMs: 1, limit: 1 })),
        extend: () => ask(port.extend([])),
        knownLanes: () => ask(port.knownLanes()),
        retire: () => ask(port.retire({ slots, lanes: lanes.map(({ lane: of }) => of), goneMs: 0 })),
      }
      // Some are under way when it begins, and some begin when it is there.
      const underway = fault.isFirst ? [] : Array.from({ length: 20 }, () => outcomeOf(() => runner.submit(probe)))
      if (!fault.isFirst) await fault.begin(scene)
      const probes = Array.from({ length: 40 }, () => outcomeOf(() => runner.submit(probe)))
      const settled = await Promise.all(
        Object.entries(calls).map(async ([name, call]) => [name, await outcomeOf(call)] as const),
      )

      for (const [name, outcome] of settled) {
        expect([name, outcome.kind]).not.toEqual([name, 'hangs'])
        if (outcome.kind !== 'rejected') continue
        const { error } = outcome
        // Whoever waits was given the reason of the signal; the rest is Redis.
        if (name === 'waitFor' && (error as Error).name === 'TimeoutError') continue
        expect([name, error]).toEqual([name, expect.any(LaneError)])
        expect(['excluded', 'unknown']).toContain((error as LaneError).effect)
      }
      const rejected = new Set(settled.filter(([, { kind }]) => kind === 'rejected').map(([name]) => name))
      expect(rejected).toContain('submit')
      for (const name of ['drain of a worker', 'registerWorker, and its end', 'subscribe', 'subscribeByType'])
        expect(rejected).not.toContain(name)
      // A sign of life is never the business of whoever gives it.
      if (!fault.isFirst)
        expect(await outcomeOf(async () => adapter.heartbeat(await claimed.promise))).toEqual({ kind: 'fulfilled' })

      // What was said of the effect is true once Redis is back.
      await fault.end(scene)
      await until(() => runner.submit({ ...probe, type: 'recovered' }).catch(() => undefined), {
        timeoutMs: 30_000,
        description: 'a submit to be taken again',
      })
      const effects = (await Promise.all([...underway, ...probes])).map(effectOf)
      const countOf = (...wanted: string[]): number => effects.filter((effect) => wanted.includes(effect)).length
      expect(countOf('fulfilled', 'excluded', 'unknown')).toBe(effects.length)
      expect(countOf('excluded', 'unknown')).toBeGreaterThan(0)
      // The draft may have been started as well.
      const written = Number(await (await scene.admin()).sendCommand(['XLEN', `${prefix}tasks:queue:probe:v1`]))
      expect(written).toBeGreaterThanOrEqual(countOf('fulfilled'))
      expect(written).toBeLessThanOrEqual(countOf('fulfilled', 'unknown') + 1)

      gate.resolve({ kind: 'success' })
      expect(await outcomeOf(() => holder[Symbol.asyncDispose]?.())).toEqual({ kind: 'fulfilled' })
      expect(await outcomeOf(dispose)).toEqual({ kind: 'fulfilled' })
      for (const { error } of troubles) expect(error).toBeInstanceOf(Error)
      expect(warnings).toEqual([])
    },
  )
})

describe('a process whose Redis', () => {
  const main = fileURLToPath(new URL('../support/leaverMain.ts', import.meta.url))

  it.each<[string, (scene: { server: RedisServer; proxy: TcpProxy }) => unknown]>([
    ['is there', () => undefined],
    ['has died', ({ server }) => server.kill('SIGKILL')],
    ['stands still', ({ proxy }) => proxy.stall()],
  ])('%s ends by itself when its runner is disposed of', { timeout: 60_000 }, async (_, strike) => {
    await using server = await startRedisServer()
    await using proxy = await startTcpProxy({ targetPort: server.port })
    const child = fork(main, [JSON.stringify({ url: proxy.url, prefix: uniquePrefix('leaver') })], {
      execArgv: ['--import', 'tsx', '--unhandled-rejections=strict', '--trace-warnings'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let complaints = ''
    child.stderr?.on('data', (text: Buffer) => (complaints += text.toString()))
    await once(child, 'message')
    await strike({ server, proxy })
    const exited = once(child, 'exit', { signal: AbortSignal.timeout(30_000) })
    child.send('leave')
    expect(await exited).toEqual([0, null])
    expect(complaints).toBe('')
  })
})
