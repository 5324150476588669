import { isTerminalStatus } from '@furystack/task-runner'
import { expect, it } from 'vitest'

import { keys } from '../../src/keys/keys.js'
import { lane } from '../../src/keys/lane.js'
import { consumersOf } from '../support/consumersOf.js'
import { startService } from '../support/service.js'
import { until } from '../support/until.js'
import { startWorkerProcess } from '../support/workerProcess.js'

const TASKS = 10_000

it(`runs ${String(TASKS)} tasks over 3 processes of 8 slots, each once, and leaves the streams empty`, async () => {
  const { runner, client, prefix } = await startService()
  const workers = await Promise.all(Array.from({ length: 3 }, () => startWorkerProcess({ prefix, concurrency: 8 })))
  const submitted = await Promise.all(
    Array.from({ length: TASKS }, (_, index) => runner.submit({ type: 'double', payload: index, handlerVersion: 1 })),
  )
  const stream = keys(prefix).queue(lane('double', 1))

  let mostPending = 0
  await until(
    async () => {
      const consumers = await consumersOf(client, stream)
      for (const { workerId } of workers) {
        const own = consumers.filter(({ name }) => name.startsWith(`${workerId}-slot-`))
        mostPending = Math.max(
          mostPending,
          own.reduce((sum, { pending }) => sum + pending, 0),
        )
      }
      return Number(await client.sendCommand(['XLEN', stream])) === 0
    },
    { timeoutMs: 90_000, description: 'the stream to be empty' },
  )
  // For each slot one that runs, and for a moment one that has run and whose end is on its way.
  expect(mostPending).toBeLessThanOrEqual(16)

  const rows = await Promise.all(submitted.map(({ id }) => runner.get(id)))
  await until(() => rows.every((row) => row && isTerminalStatus(row.status)), { description: 'rows' })
  expect(rows.every((row) => row?.status === 'succeeded' && row.attempts.length === 1)).toBe(true)
  expect(rows.map((row) => row?.result)).toEqual(submitted.map((_, index) => index * 2))

  expect(await client.xPending(stream, 'runner')).toMatchObject({ pending: 0 })
  const starts = workers.flatMap(({ starts: own }) => own.map(({ taskId }) => taskId))
  await until(() => workers.flatMap(({ starts: own }) => own).length >= TASKS, {
    description: 'all starts to be told',
  })
  expect(new Set(starts).size).toBe(starts.length)

  const names = (await consumersOf(client, stream)).map(({ name }) => name)
  const allowed = workers.flatMap(({ workerId }) =>
    Array.from({ length: 8 }, (_, i) => `${workerId}-slot-${String(i)}`),
  )
  expect(allowed).toEqual(expect.arrayContaining(names))
  expect(workers.every(({ starts: own }) => own.length > 0)).toBe(true)
}, 120_000)

it('recovers the tasks of a killed process when their visibility ends', async () => {
  const options = { visibilityTimeoutMs: 1_000 }
  const { runner, prefix } = await startService(options)
  const doomed = await startWorkerProcess({ prefix, concurrency: 4, options })
  const submitted = await Promise.all(
    Array.from({ length: 4 }, () => runner.submit({ type: 'sleep', payload: 60_000, handlerVersion: 1 })),
  )
  await until(() => doomed.starts.length === 4, { description: 'all four to run' })

  const heir = await startWorkerProcess({ prefix, concurrency: 4, options })
  await doomed.kill('SIGKILL')
  await until(() => heir.starts.length === 4, { description: 'all four to run elsewhere' })

  const rows = await Promise.all(submitted.map(({ id }) => runner.get(id)))
  for (const row of rows) {
    expect(row?.status).toBe('running')
    expect(row?.attempts.map(({ status }) => status)).toEqual(['timed-out', 'in-progress'])
  }
}, 60_000)

it('hands unfinished tasks back when a process ends, so that they run elsewhere at once', async () => {
  const options = { visibilityTimeoutMs: 60_000 }
  const { runner, prefix, client } = await startService(options)
  const leaving = await startWorkerProcess({ prefix, concurrency: 2, options })
  const submitted = await Promise.all(
    [1, 2].map(() => runner.submit({ type: 'sleep', payload: 600_000, handlerVersion: 1 })),
  )
  await until(() => leaving.starts.length === 2, { description: 'both to run' })
  const heir = await startWorkerProcess({ prefix, concurrency: 2, options })
  await leaving.kill('SIGTERM')
  await until(() => heir.starts.length === 2, { description: 'both to run elsewhere' })

  for (const { id } of submitted) {
    const row = await runner.get(id)
    expect(row?.attempts.map(({ status }) => status)).toEqual(['released', 'in-progress'])
  }
  const consumers = await consumersOf(client, keys(prefix).queue(lane('sleep', 1)))
  expect(consumers.every(({ name }) => name.startsWith(heir.workerId))).toBe(true)
}, 60_000)

it('lets a worker that stood still change nothing once its task has been taken over', async () => {
  const options = { visibilityTimeoutMs: 500 }
  const { runner, prefix } = await startService(options)
  const frozen = await startWorkerProcess({ prefix, concurrency: 1, options })
  const { id } = await runner.submit({ type: 'sleep', payload: 1_500, handlerVersion: 1 })
  await until(() => frozen.starts.length === 1, { description: 'the task to run' })
  frozen.child.kill('SIGSTOP')

  const heir = await startWorkerProcess({ prefix, concurrency: 1, options })
  await until(() => heir.starts.length === 1, { description: 'the task to run elsewhere' })
  frozen.child.kill('SIGCONT')
  const ended = await until(
    async () => {
      const row = await runner.get(id)
      return row?.status === 'succeeded' && row
    },
    { description: 'the task to end' },
  )
  expect(ended.result).toBe(heir.child.pid)
  expect(ended.attempts.map(({ status, workerId }) => [status, workerId])).toEqual([
    ['timed-out', frozen.workerId],
    ['succeeded', heir.workerId],
  ])
  // The late owner goes on as a worker like any other.
  const next = await Promise.all(
    Array.from({ length: 20 }, () => runner.submit({ type: 'sleep', payload: 50, handlerVersion: 1 })),
  )
  await until(() => frozen.starts.length > 1, { description: 'the late owner to take a task' })
  await until(
    async () =>
      (await Promise.all(next.map(({ id: one }) => runner.get(one)))).every((row) => row?.status === 'succeeded'),
    { description: 'the rest to end' },
  )
}, 60_000)
