import { defineTaskHandler, TaskRunnerTelemetryToken, type TaskRunnerTelemetryEvents } from '@furystack/task-runner'
import { expect, it } from 'vitest'

import type { Connection } from '../../src/connection/connection.js'
import { keys } from '../../src/keys/keys.js'
import { findUnserved } from '../../src/scripts/findUnserved.js'
import { connectTo } from '../support/connectTo.js'
import { connectClient, uniquePrefix } from '../support/redis.js'
import { startService } from '../support/service.js'
import { until } from '../support/until.js'
import { startWorkerProcess } from '../support/workerProcess.js'

type Unserved = TaskRunnerTelemetryEvents['onTaskUnserved']

it('T57 tells of the lane of a worker that was killed, once it has not been heard of for long enough', async () => {
  const { client, prefix, injector, runner, work } = await startService({
    unservedAfterMs: 50,
    maintenanceIntervalMs: 50,
  })
  const told: Unserved[] = []
  injector.get(TaskRunnerTelemetryToken).addListener('onTaskUnserved', (event) => told.push(event))
  const serving = `${keys(prefix).root}serving`
  const worker = await startWorkerProcess({ prefix, concurrency: 1 })
  const servedUntil = await until(() => client.zScore(serving, 'double:v1'))
  expect(servedUntil - Date.now()).toBeGreaterThan(100_000)
  await worker.kill()
  const { id } = await runner.submit({ type: 'double', handlerVersion: 1, payload: 21 })
  await runner.submit({ type: 'nobody', handlerVersion: 1, payload: 0 })
  // Of this one it tells, so it has looked.
  await until(() => told.some(({ type }) => type === 'nobody'))
  expect(told).toHaveLength(1)
  // It has not said for too long that it reads the lane.
  await client.zAdd(serving, { value: 'double:v1', score: Date.now() - 1_000 })
  await until(() => told.length === 2)
  expect(told[1]).toMatchObject({ type: 'double', handlerVersion: 1, tags: [] })
  work([defineTaskHandler<number, number>({ type: 'double', version: 1, handler: (_, n) => n * 2 })])
  expect(await runner.waitFor(id)).toBe(42)
  await until(() => told.length === 3)
  expect(told[2]).toEqual({ type: 'double', handlerVersion: 1, tags: [] })
})

it('looks at many lanes by the hundred, and tells of each once', async () => {
  const client = await connectClient()
  const prefix = uniquePrefix('lanes')
  const names = Array.from({ length: 1_000 }, (_, n) => `type-${n}:v1`)
  await client.sAdd(`${prefix}tasks:lanes`, names)
  await Promise.all(
    names.slice(0, 300).map((name) => client.xAdd(`${prefix}tasks:queue:${name}`, '1-1', { taskId: 'a' })),
  )
  const connection = connectTo(client)
  const sizes: number[] = []
  const counted: Connection = Object.assign(Object.create(connection) as Connection, {
    send: (...args: Parameters<Connection['send']>) => {
      const [, words] = args
      if (words[0] === 'EVALSHA') sizes.push(words.length - 5)
      return connection.send(...args)
    },
  })

  const found = await findUnserved(counted, keys(prefix), 1_000)
  expect(found.map(({ type, since }) => `${type}:v1 ${since}`).sort()).toEqual(
    names
      .slice(0, 300)
      .map((name) => `${name} 1`)
      .sort(),
  )
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100)
  expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThanOrEqual(1_000)
  expect(await findUnserved(counted, keys(prefix), 1_000)).toEqual([])
  await connection[Symbol.asyncDispose]()
})
