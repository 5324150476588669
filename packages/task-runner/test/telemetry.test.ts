import { createInjector } from '@furystack/inject'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { DEFAULT_RETENTION_POLICY, MemoryTaskStore, TaskRunnerTelemetryToken, TaskStore } from '../src/index.js'
import { handle, setUpCore } from './support/setUpCore.js'

describe('telemetry', () => {
  afterEach(() => void vi.restoreAllMocks())

  it('follows a task', async () => {
    const { adapter, register, submit, telemetry } = setUpCore()
    const events: Array<[string, unknown]> = []
    for (const name of ['onTaskSubmitted', 'onTaskClaimed', 'onTaskFailed', 'onTaskCompleted'] as const) {
      telemetry.addListener(name, (event) => events.push([name, event]))
    }
    const worker = register([
      handle(({ attempt }) => (attempt === 1 ? Promise.reject(new TypeError('no')) : Promise.resolve()), {
        retryPolicy: { maxAttempts: 2 },
      }),
    ])
    const { id } = await submit({ payload: { text: 'ä' } })
    await adapter.deliver(id)
    await adapter.deliver(id)
    const number = expect.any(Number) as number
    expect(events).toEqual([
      ['onTaskSubmitted', { taskId: id, type: 'mail', payloadBytes: 13 }],
      ['onTaskClaimed', { taskId: id, type: 'mail', workerId: worker.workerId, queueLagMs: number }],
      [
        'onTaskFailed',
        { taskId: id, type: 'mail', attempt: 1, willRetry: true, error: { name: 'TypeError', message: 'no' } },
      ],
      ['onTaskClaimed', { taskId: id, type: 'mail', workerId: worker.workerId, queueLagMs: number }],
      ['onTaskCompleted', { taskId: id, type: 'mail', status: 'succeeded', attempt: 2, durationMs: number }],
    ])
  })

  it('T61 counts the lag from when a task was due', async () => {
    let time = 1_000_000
    const store = new MemoryTaskStore({ now: () => time })
    const { adapter, register, telemetry } = setUpCore({ store })
    const lags: number[] = []
    telemetry.addListener('onTaskClaimed', ({ queueLagMs }) => lags.push(queueLagMs))
    register([handle(() => Promise.reject(new Error('no')), { retryPolicy: { maxAttempts: 3 } })])
    const row = { type: 'mail', handlerVersion: 1, status: 'pending', tags: [] } as const
    const retentionPolicy = DEFAULT_RETENTION_POLICY
    await store.create({ ...row, id: 'plain', retentionPolicy })
    await store.create({ ...row, id: 'delayed', notBefore: time + 60_000, retentionPolicy })
    time += 60_007
    await adapter.deliver('delayed')
    await adapter.deliver('plain')
    time += 9
    await adapter.deliver('plain')
    expect(lags).toEqual([7, 60_007, 9])
  })

  it('T61 counts the lag of a parent from when its last child woke it, not from when it began to wait', async () => {
    let time = 1_000_000
    const store = new MemoryTaskStore({ now: () => time })
    const { adapter, register, submit, read, telemetry } = setUpCore({ store })
    const lags: number[] = []
    telemetry.addListener('onTaskClaimed', ({ type, queueLagMs }) => type === 'mail' && lags.push(queueLagMs))
    register([
      handle((ctx) => ctx.spawnChildAndAwait('child', 1)),
      handle(() => void (time += 60_000), { type: 'child' }),
    ])
    const { id } = await submit()
    expect(await adapter.deliver(id)).toEqual({ kind: 'suspended' })
    await adapter.deliver((await read(id)).childTaskIds[0]!, { type: 'child' })
    time += 9
    expect(await adapter.deliver(id)).toEqual({ kind: 'success' })
    expect(lags).toEqual([0, 9])
  })

  it('builds nothing that nobody listens to', async () => {
    const { adapter, register, submit, telemetry } = setUpCore()
    const emit = vi.spyOn(telemetry, 'emit')
    register(({ reportProgress }) => Promise.resolve(reportProgress({ percent: 1 })))
    await adapter.deliver((await submit()).id)
    expect(emit).not.toHaveBeenCalled()
  })

  it('is one hub an injector, and there is no task store by default', async () => {
    const injector = createInjector()
    expect(injector.get(TaskRunnerTelemetryToken)).toBe(injector.get(TaskRunnerTelemetryToken))
    expect(injector.get(TaskStore)).toBeUndefined()
    injector.bind(TaskStore, () => new MemoryTaskStore())
    expect(injector.get(TaskStore)).toBeInstanceOf(MemoryTaskStore)
    await injector[Symbol.asyncDispose]()
  })
})
