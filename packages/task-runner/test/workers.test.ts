import { setTimeout as delay } from 'node:timers/promises'

import { InMemoryBlobStore, BlobStore } from '@furystack/blob-store'
import { createInjector } from '@furystack/inject'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { until } from '../../../test/support/until.js'
import { DEFAULT_RETENTION_POLICY, defineInProcessTaskRunner, defineWorker, TaskRunner } from '../src/index.js'
import { countingBus } from './support/countingBus.js'
import { handle, setUpCore } from './support/setUpCore.js'

describe('a worker', () => {
  afterEach(() => void vi.useRealTimers())

  it('T33 lets go whoever waits for its drain when it, or its runner, is disposed', async () => {
    const { core, adapter, register, submit } = setUpCore()
    const gate = deferred()
    const running = [deferred(), deferred()]
    const workers = running.map(({ resolve }) =>
      register(async () => {
        resolve()
        await gate.promise
      }),
    )
    const outcomes = await Promise.all(
      workers.map(async (_, index) => ({ outcome: adapter.deliver((await submit()).id, {}, index) })),
    )
    await Promise.all(running.map(({ promise }) => promise))
    const drains = workers.map((worker) => worker.drain())
    workers[0]![Symbol.dispose]()
    await drains[0]
    expect(workers[0]!.activeTaskCount).toBe(1)
    core[Symbol.dispose]()
    await drains[1]
    gate.resolve()
    for (const { outcome } of outcomes) await outcome
  })

  it('T33 leaves no timer behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { core, adapter, register, submit } = setUpCore({ reconcilerIntervalMs: Infinity, sweepIntervalMs: Infinity })
    const gate = deferred()
    const worker = register(async () => gate.promise)
    const outcome = adapter.deliver((await submit()).id)
    const drained = worker.drain({ timeoutMs: 60_000 })
    gate.resolve()
    await outcome
    await drained
    await core[Symbol.asyncDispose]()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('T62 drains when it is disposed asynchronously, and fires signals after its limit', async () => {
    const { adapter, register, submit, read } = setUpCore({ drainTimeoutMs: 100 })
    const gate = deferred()
    const worker = register([
      handle(async () => gate.promise),
      handle(({ sleep }) => sleep(60_000), { type: 'endless' }),
    ])
    const [quick, endless] = [await submit(), await submit({ type: 'endless' })]
    const outcomes = Promise.all([adapter.deliver(quick.id), adapter.deliver(endless.id)])
    await until(() => worker.activeTaskCount === 2)
    const disposed = worker[Symbol.asyncDispose]()
    await delay(20)
    gate.resolve()
    await disposed
    expect(await outcomes).toEqual([{ kind: 'success' }, { kind: 'requeue' }])
    expect(worker.activeTaskCount).toBe(0)
    expect((await read(quick.id)).status).toBe('succeeded')
    expect((await read(endless.id)).attempts).toMatchObject([{ status: 'released' }])
  })

  it('T34 gives tasks the retention of their handler, unless the submitter says otherwise', async () => {
    const { register, submit } = setUpCore()
    expect((await submit()).retentionPolicy).toEqual(DEFAULT_RETENTION_POLICY)
    register([
      handle(() => Promise.resolve(), { retentionPolicy: { onSuccess: 'delete-all', ttlAfterTerminalDays: 1 } }),
      handle(() => Promise.resolve(), { version: 2 }),
    ])
    const policies = await Promise.all([
      submit(),
      submit({ retentionPolicy: { ttlAfterTerminalDays: 9 } }),
      submit({ handlerVersion: 2 }),
    ])
    expect(policies.map(({ retentionPolicy }) => retentionPolicy)).toEqual([
      { onSuccess: 'delete-all', onFailure: 'keep', ttlAfterTerminalDays: 1 },
      { onSuccess: 'delete-all', onFailure: 'keep', ttlAfterTerminalDays: 9 },
      DEFAULT_RETENTION_POLICY,
    ])
  })

  it('that cannot be subscribed leaves nothing behind', () => {
    const { bus, openOn } = countingBus()
    const { adapter, register } = setUpCore({ bus })
    register(() => Promise.resolve())[Symbol.dispose]()
    adapter.subscribe = () => {
      expect(openOn('tasks/cancel/mail')).toBe(1)
      throw new Error('no more workers')
    }
    expect(() => register(() => Promise.resolve())).toThrow('no more workers')
    expect(openOn('tasks/cancel/mail')).toBe(0)
  })

  it('can be a service of an injector, which waits for it', async () => {
    const injector = createInjector()
    injector.bind(BlobStore, () => new InMemoryBlobStore())
    injector.bind(TaskRunner, defineInProcessTaskRunner())
    const gate = deferred()
    const running = deferred()
    let isOver = false
    const MailWorker = defineWorker({
      name: 'mail',
      types: [
        handle(async () => {
          running.resolve()
          await gate.promise
          isOver = true
        }),
      ],
    })
    expect(MailWorker.name).toBe('mail')
    const worker = injector.get(MailWorker)
    expect(worker).toMatchObject({ name: 'mail', concurrency: 1, tags: [] })
    await injector.get(TaskRunner).submit({ type: 'mail', handlerVersion: 1, payload: 1 })
    await running.promise
    const disposed = injector[Symbol.asyncDispose]().then(() => isOver)
    await delay(10)
    gate.resolve()
    expect(await disposed).toBe(true)
  })

  it('needs a runner to be bound', () => {
    expect(() => createInjector().get(TaskRunner)).toThrow(/bind/i)
  })

  it.each(['constructor', '__proto__', 'toString'])('may serve a type called %s', async (type) => {
    const { adapter, register, submit, read } = setUpCore()
    register([handle(() => Promise.resolve('done'), { type })])
    const { id } = await submit({ type })
    await adapter.deliver(id)
    expect((await read(id)).result).toBe('done')
  })
})
