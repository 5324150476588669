import { readFileSync } from 'node:fs'

import { defineTaskHandler } from '@furystack/task-runner'
import { expect, it } from 'vitest'

import { deferred } from '../support/deferred.js'
import { startRedisServer } from '../support/redisServer.js'
import { type Service, startService } from '../support/service.js'

/**
 * What a task may cost, counted and not timed, so that the answer is the same on every machine. Whoever makes a task cost
 * more on purpose raises the budget in the same commit, and says why; see docs/performance.md.
 */
const BUDGET = JSON.parse(readFileSync(new URL('./budget.json', import.meta.url), 'utf8')) as Record<
  'submit' | 'submitMany' | 'process at 1 slot' | 'process at 50 slots' | 'rows',
  Record<string, number>
>

const TASKS = 1_000
const AT_ONCE = 100

const taskOf = (index: number) => ({
  type: 'mail',
  payload: { to: `user-${String(index)}@example.com`, subject: 'x'.repeat(50), index },
  handlerVersion: 1,
})

/** What all keys take, each asked by itself: what the server uses besides depends on its version and on its past. */
const memoryOf = async (client: Service['client']): Promise<number> => {
  const sizes = await Promise.all((await client.keys('*')).map((key) => client.memoryUsage(key, { SAMPLES: 0 })))
  return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
}

const countersOf = async (client: Service['client']): Promise<Record<string, number>> => {
  const info = await client.info()
  const read = (name: string): number => Number(new RegExp(`${name}:(\\d+)`).exec(info)?.[1])
  return {
    commands: read('total_commands_processed'),
    roundTrips: read('total_reads_processed'),
    bytesIn: read('total_net_input_bytes'),
    bytesOut: read('total_net_output_bytes'),
  }
}

/** What a step costs for each of the tasks. */
const costOf = async ({ client }: Service, step: () => Promise<unknown>): Promise<Record<string, number>> => {
  const memoryBefore = await memoryOf(client)
  const before = await countersOf(client)
  await step()
  const after = await countersOf(client)
  const memory = (await memoryOf(client)) - memoryBefore
  return {
    ...Object.fromEntries(
      Object.keys(before).map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / TASKS]),
    ),
    memory: memory / TASKS,
  }
}

const expectWithin = (cost: Record<string, number>, budget: Record<string, number>): void => {
  const over = Object.entries(budget).filter(([name, limit]) => !((cost[name] ?? NaN) <= limit))
  expect(Object.fromEntries(over.map(([name, limit]) => [name, { cost: cost[name], limit }]))).toEqual({})
}

const submitAll = async ({ runner }: Service): Promise<void> => {
  for (let from = 0; from < TASKS; from += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => runner.submit(taskOf(from + index))))
}

const processAll = async ({ work }: Service, concurrency: number): Promise<void> => {
  const done = deferred<undefined>()
  let ran = 0
  const handler = defineTaskHandler({
    type: 'mail',
    version: 1,
    handler: (context) => {
      if (++ran === TASKS) done.resolve(undefined)
      return Promise.resolve({ ok: true, attempt: context.attempt })
    },
  })
  const worker = work([handler], { concurrency })
  await done.promise
  await worker[Symbol.asyncDispose]()
}

it('stays within its budget of commands, round trips, bytes and memory a task', async () => {
  await using server = await startRedisServer()
  const service = await startService({ url: server.url })
  // Scripts and keys that are made once.
  await service.runner.submit(taskOf(0))
  await service.runner.submitMany([taskOf(0)])

  const submit = await costOf(service, () => submitAll(service))
  expectWithin(submit, BUDGET.submit)
  expectWithin({ waitingBytes: submit.memory ?? NaN }, { waitingBytes: BUDGET.rows.waitingBytes ?? NaN })
  expectWithin(await costOf(service, () => processAll(service, 1)), BUDGET['process at 1 slot'])

  const submitMany = await costOf(service, () =>
    service.runner.submitMany(Array.from({ length: TASKS }, (_, index) => taskOf(index))),
  )
  expectWithin(submitMany, BUDGET.submitMany)
  const processed = await costOf(service, () => processAll(service, 50))
  expectWithin(processed, BUDGET['process at 50 slots'])
  const keptBytes = (submitMany.memory ?? NaN) + (processed.memory ?? NaN)
  expectWithin({ keptBytes }, { keptBytes: BUDGET.rows.keptBytes ?? NaN })
})
