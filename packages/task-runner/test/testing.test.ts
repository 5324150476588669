import { BlobStore } from '@furystack/blob-store'
import { describe, expect, it } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { until } from '../../../test/support/until.js'
import { TaskRunner, UnknownTaskError } from '../src/index.js'
import { createTestRunner, runTaskToCompletion } from '../src/testing/index.js'
import { handle } from './support/setUpCore.js'

const mail = { type: 'mail', handlerVersion: 1, payload: 1 }

describe('createTestRunner', () => {
  it('makes a runner with a worker, and disposes both', async () => {
    const test = createTestRunner({ handlers: [handle(() => Promise.resolve('done'))] })
    const { injector, runner, worker } = test
    expect(injector.get(TaskRunner)).toBe(runner)
    expect(injector.get(BlobStore).storeName).toBe('test-blobs')
    expect(worker).toMatchObject({ name: 'test-worker', concurrency: 4, tags: [] })
    const { id } = await runner.submit(mail)
    expect(await runTaskToCompletion({ runner, taskId: id })).toMatchObject({ status: 'succeeded', result: 'done' })
    await test[Symbol.asyncDispose]()
    await expect(runner.get(id)).rejects.toThrow(/disposed/)
  })

  it('makes no worker without handlers', async () => {
    for (const options of [{}, { handlers: [] }]) {
      await using test = createTestRunner(options)
      expect(test).not.toHaveProperty('worker')
    }
  })

  it('T60 passes all options on', async () => {
    const gate = deferred()
    let open = 0
    await using test = createTestRunner({
      handlers: [handle(async () => ((open += 1), gate.promise), { version: 2 })],
      workerConcurrency: 3,
      compatibleVersions: { mail: [1, 2] },
      concurrencyLimits: { mail: 1 },
      idempotencyTtlSec: 0.001,
      capabilityCheck: 'throw',
    })
    expect(test.worker?.concurrency).toBe(3)
    const other = { ...mail, type: 'other', idempotencyKey: 'k' }
    const ended = await test.runner.submit(other)
    await test.runner.cancel(ended.id)
    await until(async () => (await test.runner.submit(other)).id !== ended.id)
    const [first] = await test.runner.submitMany([mail, mail])
    await until(() => open === 1)
    expect(test.worker?.activeTaskCount).toBe(1)
    gate.resolve()
    await runTaskToCompletion({ runner: test.runner, taskId: first!.id })
    expect(() => createTestRunner({ maxDeliveries: 0 })).toThrow(/maxDeliveries/)
  })
})

describe('runTaskToCompletion', () => {
  it.each([false, true])('rejects at once for a task that keeps nothing (virtual time: %s)', async (virtualTime) => {
    const gate = deferred()
    await using test = createTestRunner({ handlers: [handle(() => gate.promise)], virtualTime })
    const { id } = await test.runner.submit({ ...mail, retentionPolicy: { keepRowDays: 0 } })
    const ended = expect(runTaskToCompletion({ runner: test.runner, taskId: id })).rejects.toThrow(UnknownTaskError)
    await until(async () => (await test.runner.get(id))?.status === 'running')
    gate.resolve()
    await ended
  })

  it('T60 rejects with the task, the time and the last status', async () => {
    await using test = createTestRunner()
    const { runner } = test
    const { id: taskId } = await runner.submit(mail)
    const late = runTaskToCompletion({ runner, taskId, timeoutMs: 30, pollIntervalMs: 5 })
    await expect(late).rejects.toMatchObject({ name: 'WaitTimeoutError', taskId, timeoutMs: 30, status: 'pending' })
    await expect(runTaskToCompletion({ runner, taskId: 'nobody', timeoutMs: 0 })).rejects.toThrow(/nobody.*0 ms/)
    await expect(runTaskToCompletion({ runner, taskId, pollIntervalMs: 0 })).rejects.toThrow(/pollIntervalMs/)
  })
})
