import { type CrossNodeBus, InProcessCrossNodeBus } from '@furystack/cross-node-bus'
import { defineTaskHandler, isTerminalStatus, type Task, type TaskRunner } from '@furystack/task-runner'
import { describe, expect, it, onTestFinished } from 'vitest'

import type { RedisTaskRunnerOptions } from '../../src/index.js'
import { deferred, type Deferred } from '../support/deferred.js'
import { connectClient, uniquePrefix } from '../support/redis.js'
import { serviceOn, type ServiceOnClient } from '../support/service.js'
import { until } from '../support/until.js'

/** A bus between services which loses requests to cancel, and tells how many it has lost. */
const losingBus = (): { bus: CrossNodeBus; lost: string[] } => {
  const bus = new InProcessCrossNodeBus()
  onTestFinished(() => bus[Symbol.dispose]())
  const lost: string[] = []
  const losing = new Proxy<CrossNodeBus>(bus, {
    get: (target, name) => {
      if (name === 'publish') {
        return (topic: string, payload: unknown): Promise<void> => {
          if (!topic.startsWith('tasks/cancel/')) return target.publish(topic, payload)
          lost.push(topic)
          return Promise.resolve()
        }
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return { bus: losing, lost }
}

/** A service that cancels, and one that works with such heartbeats; the bus between them loses requests to cancel. */
const startServices = async (options: Partial<RedisTaskRunnerOptions>) => {
  const prefix = uniquePrefix('lost-cancels')
  const { bus, lost } = losingBus()
  const start = async (): Promise<ServiceOnClient> =>
    serviceOn(await connectClient(), prefix, options, { bus: () => bus })
  const [here, there] = await Promise.all([start(), start()])
  return { here, there, lost }
}

/** A handler that runs until the gate opens and one more heartbeat is over, or its signal fires, whose reason it throws. */
const gatedHandler = () => {
  const signals = new Map<string, AbortSignal>()
  const gate: Deferred<string> = deferred()
  const handler = defineTaskHandler({
    type: 'gated',
    version: 1,
    handler: ({ taskId, cancellationSignal: signal, heartbeat }, _payload: null) => {
      signals.set(taskId, signal)
      return new Promise<string>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        // For a run that has ended by then the rejection comes too late to be heard.
        gate.promise.then((result) => heartbeat().then(() => result)).then(resolve, reject)
      })
    },
  })
  return { handler, signals, gate }
}

const submit = (runner: TaskRunner, count: number): Promise<Task[]> =>
  runner.submitMany(Array.from({ length: count }, () => ({ type: 'gated', handlerVersion: 1, payload: null })))

const ended = (runner: TaskRunner, { id }: Task): Promise<Task> =>
  until(async () => {
    const task = await runner.get(id)
    return task !== undefined && isTerminalStatus(task.status) && task
  })

describe('a request to cancel that the bus loses', () => {
  it.each<[string, Partial<RedisTaskRunnerOptions>]>([
    ['short heartbeats', { visibilityTimeoutMs: 60_000, heartbeatIntervalMs: 100 }],
    ['a short visibility', { visibilityTimeoutMs: 1_500 }],
  ])('T23 reaches the worker with a heartbeat, by %s', async (_, options) => {
    const { here, there, lost } = await startServices(options)
    const { handler, signals } = gatedHandler()
    there.work([handler])
    const [task] = await submit(here.runner, 1)
    await until(() => signals.has(task!.id))

    await here.runner.cancel(task!.id, 'no longer wanted')

    const { status, attempts } = await ended(here.runner, task!)
    expect(status).toBe('cancelled')
    expect(attempts).toMatchObject([{ attempt: 1, status: 'cancelled' }])
    expect(signals.get(task!.id)?.reason).toMatchObject({ name: 'TaskCancelledError', reason: 'no longer wanted' })
    expect(lost).toEqual(['tasks/cancel/gated'])
    expect([here.troubles, there.troubles]).toEqual([[], []])
  })

  it('T23 stops none but the task that it names, though one heartbeat is for all', async () => {
    const { here, there, lost } = await startServices({ visibilityTimeoutMs: 60_000, heartbeatIntervalMs: 100 })
    const { handler, signals, gate } = gatedHandler()
    there.work([handler], { concurrency: 5 })
    const tasks = await submit(here.runner, 5)
    await until(() => signals.size === tasks.length)

    // Without a reason, and with one that looks like the answer to a heartbeat.
    await here.runner.cancel(tasks[1]!.id)
    await here.runner.cancel(tasks[3]!.id, '1')
    for (const index of [1, 3]) expect((await ended(here.runner, tasks[index]!)).status).toBe('cancelled')
    gate.resolve('done')

    const ends = await Promise.all(tasks.map((task) => ended(here.runner, task)))
    expect(ends.map(({ status }) => status)).toEqual(['succeeded', 'cancelled', 'succeeded', 'cancelled', 'succeeded'])
    const reasons = tasks.map(({ id }) => (signals.get(id)?.reason as { reason?: string } | undefined)?.reason)
    expect(reasons).toEqual([undefined, undefined, undefined, '1', undefined])
    expect(tasks.map(({ id }) => signals.get(id)?.aborted)).toEqual([false, true, false, true, false])
    expect(lost).toHaveLength(2)
    expect(ends.flatMap(({ attempts }) => attempts)).toHaveLength(tasks.length)
  })
})
