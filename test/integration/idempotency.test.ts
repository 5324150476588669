import { defineTaskHandler, type SubmitOptions } from '@furystack/task-runner'
import { expect, it } from 'vitest'

import { startService } from '../support/service.js'
import { startSubmitterProcess, type SubmitterRequest } from '../support/submitterProcess.js'
import { until } from '../support/until.js'

const PROCESSES = 3
const TIMES = 17

const options = (more: Partial<SubmitOptions<unknown>> = {}): SubmitOptions<unknown> => ({
  type: 'mail',
  handlerVersion: 1,
  payload: { to: 'a' },
  idempotencyKey: 'k',
  ...more,
})

it('T45 T46 T47 makes one task of 51 submissions in three processes', { timeout: 60_000 }, async () => {
  const { runner, client, prefix, work } = await startService()
  const submitters = await Promise.all(Array.from({ length: PROCESSES }, () => startSubmitterProcess(prefix)))
  const everywhere = async (request: Omit<SubmitterRequest, 'times'>) =>
    (await Promise.all(submitters.map((submitter) => submitter.submit({ ...request, times: TIMES })))).flat()
  const entries = (): Promise<number> => client.xLen(`${prefix}tasks:queue:mail:v1`)
  const expectOne = (answers: Array<{ id: string; isNew: boolean }>, newOnes: number): string => {
    expect(answers).toHaveLength(PROCESSES * TIMES)
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(newOnes)
    return answers[0]!.id
  }

  const first = expectOne(await everywhere({ how: 'submit', options: options() }), 1)
  expect(await entries()).toBe(1)

  const drafts = options({ idempotencyKey: 'draft' })
  const draft = expectOne(await everywhere({ how: 'draft', options: drafts }), 1)
  expect(await entries()).toBe(1)
  expect(expectOne(await everywhere({ how: 'submit', options: drafts }), 0)).toBe(draft)
  expect(await entries()).toBe(2)

  expectOne(await everywhere({ how: 'submitMany', options: options({ idempotencyKey: 'list' }) }), 1)
  expect(await entries()).toBe(3)

  await runner.cancel(first)
  const again = options({ resubmitAfterFailure: true })
  const second = expectOne(await everywhere({ how: 'submit', options: again }), 1)
  expect(second).not.toBe(first)
  await runner.cancel(second)
  const third = expectOne(await everywhere({ how: 'submitMany', options: again }), 1)
  expect(third).not.toBe(second)

  let runs = 0
  work([defineTaskHandler({ type: 'mail', version: 1, handler: () => Promise.resolve((runs += 1)) })])
  await until(async () => (await entries()) === 0)
  expect(runs).toBe(3)
})

it('T45 Q38 leaves nothing behind of a key whose task is over and whose time has passed', async () => {
  const { runner, client, prefix, work } = await startService({ idempotencyTtlSec: 1 })
  const handler = (_: unknown, payload: unknown) =>
    payload === 'fail' ? Promise.reject(new Error('no')) : Promise.resolve()
  work([defineTaskHandler({ type: 'a:%b', version: 1, handler })])
  const held = `${prefix}tasks:held`
  const tasks = await runner.submitMany(
    ['succeed', 'fail'].map((payload) => options({ type: 'a:%b', payload, idempotencyKey: `${payload}:%3A%` })),
  )
  const delayed = await runner.submit(options({ notBefore: new Date(Date.now() + 3_600_000) }))
  await Promise.allSettled(tasks.map(({ id }) => runner.waitFor(id)))
  expect(await client.hGetAll(held)).toEqual({ 'mail:k': delayed.id })
  await runner.cancel(delayed.id)
  expect(await client.exists(held)).toBe(0)
  await until(async () => (await client.keys(`${prefix}tasks:idem:*`)).length === 0)
})

it('Q31 makes the task of a lease without a row under its id, drafts and delays included', async () => {
  const { runner, client, prefix } = await startService()
  for (const ghost of ['submitted', 'drafted', 'delayed']) await client.set(`${prefix}tasks:idem:mail:${ghost}`, ghost)
  expect((await runner.submit(options({ idempotencyKey: 'submitted' }))).id).toBe('submitted')
  const notBefore = new Date(Date.now() + 3_600_000)
  expect((await runner.submit(options({ idempotencyKey: 'delayed', notBefore }))).id).toBe('delayed')
  expect((await runner.draft(options({ idempotencyKey: 'drafted', notBefore }))).id).toBe('drafted')
  await runner.start('drafted')
  const members = await client.zRange(`${prefix}tasks:scheduler`, 0, -1)
  const parked = members.map((member) => (JSON.parse(member) as { taskId: string }).taskId)
  expect(parked.sort()).toEqual(['delayed', 'drafted'])
  expect(await client.xLen(`${prefix}tasks:queue:mail:v1`)).toBe(1)
})
