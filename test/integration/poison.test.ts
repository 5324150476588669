import { once } from 'node:events'

import { defineTaskHandler, MaxDeliveriesExceededError, TaskRunnerTelemetryToken } from '@furystack/task-runner'
import { expect, it } from 'vitest'

import { startService } from '../support/service.js'
import { until } from '../support/until.js'
import { startWorkerProcess } from '../support/workerProcess.js'

it('G10 runs a task that kills its process maxDeliveries times, and the others all the same', async () => {
  const options = { visibilityTimeoutMs: 500, maxDeliveries: 2 }
  const { runner, prefix, work, injector } = await startService(options)
  const failures: unknown[] = []
  injector.get(TaskRunnerTelemetryToken).addListener('onTaskFailed', (event) => failures.push(event))
  const double = defineTaskHandler({ type: 'double', version: 1, handler: (_, n: number) => 2 * n })

  // The server has to know the scripts, or the end of a good task may still be on its way when its process is killed.
  const first = work([double])
  expect(await runner.waitFor((await runner.submit({ type: 'double', handlerVersion: 1, payload: 5 })).id)).toBe(10)
  await first[Symbol.asyncDispose]()

  const poison = await runner.submit({ type: 'crash', handlerVersion: 1, payload: null })
  const good = await runner.submitMany([1, 2, 3].map((payload) => ({ type: 'double', handlerVersion: 1, payload })))

  for (let delivery = 1; delivery <= 2; delivery++) {
    const { child, starts } = await startWorkerProcess({ prefix, concurrency: 1, options })
    if (child.signalCode === null) await once(child, 'exit')
    expect(starts.filter(({ type }) => type === 'crash')).toEqual([{ taskId: poison.id, type: 'crash' }])
  }

  let crashes = 0
  work([defineTaskHandler({ type: 'crash', version: 1, handler: () => Promise.resolve(++crashes) }), double])
  const task = await until(
    async () => {
      const row = await runner.get(poison.id)
      return row?.status === 'failed' && row
    },
    { description: 'the poison to have failed' },
  )
  const error = { name: 'MaxDeliveriesExceededError', message: new MaxDeliveriesExceededError(poison.id, 2).message }
  expect(task).toMatchObject({ error, attempts: [{ status: 'timed-out' }, { status: 'timed-out' }] })
  expect(await Promise.all(good.map(({ id }) => runner.waitFor(id)))).toEqual([2, 4, 6])
  expect(crashes).toBe(0)
  expect(failures).toMatchObject([{ taskId: poison.id, attempt: 2, willRetry: false, error }])
})
