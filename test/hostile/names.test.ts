import { defineTaskHandler, type SubmitOptions, type TaskCancelledError } from '@furystack/task-runner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { settled, type Stack, startStacks } from '../support/stacks.js'
import { startService } from '../support/service.js'
import { deferred } from '../support/deferred.js'
import { assertProperty } from '../support/assertProperty.js'
import { ILL_FORMED, names, WELL_FORMED } from './texts.js'

const lanes = fc.uniqueArray(
  fc.record({
    type: names,
    version: fc.constantFrom(1, 2, 2 ** 53 - 1),
    tags: fc.uniqueArray(names, { maxLength: 3 }),
  }),
  {
    minLength: 2,
    maxLength: 6,
    selector: ({ type, version, tags }) => JSON.stringify([type, version, [...tags].sort()]),
  },
)

describe('types, versions and tags', () => {
  it('never bring a task to the handler of another, whatever they are called', async () => {
    const stacks = await startStacks()
    await assertProperty(
      [lanes],
      async ([all]) => {
        const kinds = new Map(all.map((lane) => [JSON.stringify([lane.type, lane.version]), lane]))
        const handlers = [...kinds.values()].map(({ type, version }) =>
          defineTaskHandler({ type, version, handler: () => ({ type, version }) }),
        )
        const tags = [...new Set(all.flatMap((lane) => lane.tags))]
        for (const { runner, work } of stacks) {
          await using _worker = work(handlers, { concurrency: 3, tags }) as ReturnType<Stack['work']> & AsyncDisposable
          const tasks = await Promise.all(
            all.map(({ type, version, tags: wanted }) =>
              runner.submit({ type, handlerVersion: version, tags: wanted, payload: null }),
            ),
          )
          const results = await Promise.all(tasks.map(({ id }) => runner.waitFor(id, { timeoutMs: 10_000 })))
          expect(results).toEqual(all.map(({ type, version }) => ({ type, version })))
          expect(tasks.map(({ type, handlerVersion, tags: kept }) => ({ type, handlerVersion, tags: kept }))).toEqual(
            all.map(({ type, version, tags: wanted }) => ({
              type,
              handlerVersion: version,
              tags: [...wanted].sort(),
            })),
          )
        }
      },
      { numRuns: 12 },
    )
    for (const { troubles } of stacks) expect(troubles).toEqual([])
  })
})

describe('idempotency keys and submitters', () => {
  const submissions = fc.uniqueArray(
    fc.record({ type: names, idempotencyKey: names, submittedBy: fc.option(names, { nil: undefined }) }),
    { minLength: 2, maxLength: 8, selector: (one) => JSON.stringify(one) },
  )

  it('find their own task, and never another', async () => {
    const stacks = await startStacks()
    await assertProperty(
      [submissions, fc.uuid()],
      async ([all, run]) => {
        for (const { runner } of stacks) {
          const submit = ({ submittedBy, ...one }: (typeof all)[number]) =>
            runner.submit({
              ...one,
              idempotencyKey: `${one.idempotencyKey}${run}`,
              handlerVersion: 1,
              payload: 1,
              ...(submittedBy !== undefined && { submittedBy }),
            })
          const first = await Promise.all(all.map(submit))
          const second = await Promise.all(all.map(submit))
          expect(new Set(first.map(({ id }) => id)).size).toBe(all.length)
          expect(second.map(({ id }) => id)).toEqual(first.map(({ id }) => id))
          const read = await Promise.all(first.map(({ id }) => runner.get(id)))
          expect(read.map((task) => [task?.type, task?.idempotencyKey, task?.submittedBy])).toEqual(
            all.map((one) => [one.type, `${one.idempotencyKey}${run}`, one.submittedBy]),
          )
        }
      },
      { numRuns: 12 },
    )
  })

  it('do not meet when one submitter is called like a task that failed', async () => {
    for (const { runner, work } of await startStacks()) {
      work([
        defineTaskHandler({
          type: 'mail',
          version: 1,
          handler: (_, fails: boolean) => (fails ? Promise.reject(new Error('no')) : Promise.resolve()),
        }),
      ])
      const options = { type: 'mail', handlerVersion: 1, payload: true, idempotencyKey: 'k' }
      const failed = await runner.submit(options)
      await expect(runner.waitFor(failed.id)).rejects.toThrow('no')
      const again = await runner.submit({ ...options, resubmitAfterFailure: true })
      expect(again.id).not.toBe(failed.id)
      const other = await runner.submit({ ...options, submittedBy: failed.id })
      expect(other.id).not.toBe(again.id)
    }
  })
})

describe('ids of tasks', () => {
  it('that nobody has made are unknown, whatever they look like', async () => {
    const stacks = await startStacks()
    for (const { runner, work } of stacks) {
      // A parent with children, events and steps, so that there is something beside its row.
      const parent = defineTaskHandler({
        type: 'parent',
        version: 1,
        handler: async (ctx) => {
          ctx.now()
          await ctx.spawnChildAndAwait('child', 1)
        },
      })
      work([parent, defineTaskHandler({ type: 'child', version: 1, handler: () => undefined })])
      const { id } = await runner.submit({ type: 'parent', handlerVersion: 1, payload: null })
      await runner.waitFor(id, { timeoutMs: 10_000 })
      const beside = ['children', 'events', 'steps', 'open'].map((name) => `${id}:${name}`)
      for (const taskId of [...WELL_FORMED, ...beside]) {
        expect(await runner.get(taskId)).toBeUndefined()
        await expect(runner.cancel(taskId)).resolves.toBeUndefined()
        const unknown = expect.objectContaining({ name: 'UnknownTaskError', taskId }) as unknown
        await expect(runner.getTree(taskId)).rejects.toEqual(unknown)
        await expect(runner.start(taskId)).rejects.toEqual(unknown)
        await expect(runner.waitFor(taskId)).rejects.toEqual(unknown)
        await expect(
          runner.submit({ type: 'child', handlerVersion: 1, payload: 1, parentTaskId: taskId }),
        ).rejects.toMatchObject({ name: 'UnknownTaskError' })
      }
    }
  })
})

describe('what no name may be', () => {
  const good: SubmitOptions<unknown> = { type: 'mail', handlerVersion: 1, payload: 1 }
  const calls: Array<[string, (stack: Stack, name: never) => unknown]> = [
    ['type', ({ runner }, type) => runner.submit({ ...good, type })],
    ['type of a draft', ({ runner }, type) => runner.draft({ ...good, type })],
    ['types of many', ({ runner }, type) => runner.submitMany([good, { ...good, type }])],
    ['tags', ({ runner }, tag) => runner.submit({ ...good, tags: ['a', tag] })],
    ['idempotencyKey', ({ runner }, idempotencyKey) => runner.submit({ ...good, idempotencyKey })],
    ['submittedBy', ({ runner }, submittedBy) => runner.submit({ ...good, submittedBy })],
    ['parentTaskId', ({ runner }, parentTaskId) => runner.submit({ ...good, parentTaskId })],
    ['id to get', ({ runner }, taskId) => runner.get(taskId)],
    ['id to start', ({ runner }, taskId) => runner.start(taskId)],
    ['id to cancel', ({ runner }, taskId) => runner.cancel(taskId)],
    ['id of a tree', ({ runner }, taskId) => runner.getTree(taskId)],
    ['id to wait for', ({ runner }, taskId) => runner.waitFor(taskId)],
    ['id to watch', ({ runner }, taskId) => runner.updates$(taskId)],
    ['id to subscribe to', ({ runner }, taskId) => runner.subscribe(taskId, () => undefined)],
    ['type to subscribe to', ({ runner }, type) => runner.subscribeByType(type, () => undefined)],
    ['type of a handler', (_, type) => defineTaskHandler({ type, version: 1, handler: () => 1 })],
    [
      'tag of a worker',
      ({ work }, tag) => work([defineTaskHandler({ type: 'a', version: 1, handler: () => 1 })], { tags: [tag] }),
    ],
    [
      'name of a worker',
      ({ runner }, name) =>
        runner.registerWorker({
          name,
          handlers: [defineTaskHandler({ type: 'a', version: 1, handler: () => 1 })],
          concurrency: 1,
          tags: [],
          compatibleVersions: {},
        }),
    ],
  ]

  it.each(calls)('is refused before anything is written: %s', async (_what, call) => {
    const stacks = await startStacks()
    for (const name of ILL_FORMED) {
      const outcomes = await Promise.all(stacks.map((stack) => settled(() => call(stack, name as never))))
      expect(outcomes[0]).toMatchObject({ refused: 'InvalidArgumentError' })
      expect(outcomes[1]).toEqual(outcomes[0])
      const { why } = outcomes[0] as { why: string }
      expect(why.length).toBeLessThan(400)
      expect(why).not.toMatch(/[\p{Cc}\p{Surrogate}]/u)
    }
    for (const stack of stacks) expect(await stack.isUntouched()).toBe(true)
  })
})

describe('reasons of a cancel', () => {
  it('arrive as they were given, up to their limit', async () => {
    const stacks = await startStacks()
    const reasons = fc.oneof(names, fc.constant('x'.repeat(4_096)))
    await assertProperty(
      [reasons],
      async ([reason]) => {
        for (const { runner } of stacks) {
          const { id } = await runner.submit({ type: 'idle', handlerVersion: 1, payload: 1 })
          await runner.cancel(id, reason)
          const task = await runner.get(id)
          expect(task?.events.at(-1)).toMatchObject({ kind: 'cancellation-requested', reason })
          await expect(runner.waitFor(id)).rejects.toMatchObject({ name: 'TaskCancelledError', reason })
        }
      },
      { numRuns: 20 },
    )
  })

  it('reach the handler, and none is what an empty one says', async () => {
    for (const { runner, work } of await startStacks()) {
      for (const reason of ['a\u001b[2J"\n', '']) {
        const started = deferred()
        const told = deferred<unknown>()
        const handler = defineTaskHandler({
          type: 'wait',
          version: 1,
          handler: (ctx) => {
            started.resolve()
            return new Promise<void>((resolve) => {
              ctx.cancellationSignal.addEventListener('abort', () => {
                told.resolve((ctx.cancellationSignal.reason as TaskCancelledError).reason)
                resolve()
              })
            })
          },
        })
        using _worker = work([handler])
        const { id } = await runner.submit({ type: 'wait', handlerVersion: 1, payload: 1 })
        await started.promise
        await runner.cancel(id, reason)
        expect(await told.promise).toBe(reason === '' ? undefined : reason)
        await expect(runner.waitFor(id)).rejects.toMatchObject({ name: 'TaskCancelledError' })
      }
    }
  })

  it.each(ILL_FORMED.filter((reason) => reason !== ''))('are refused if they cannot be kept: %#', async (reason) => {
    const stacks = await startStacks()
    const outcomes = await Promise.all(
      stacks.map(({ runner }) => settled(() => runner.cancel('nobody', reason as never))),
    )
    expect(outcomes[0]).toMatchObject({ refused: 'InvalidArgumentError' })
    expect(outcomes[1]).toEqual(outcomes[0])
  })
})

describe('prefixes, groups and names of services', () => {
  it('may be anything well-formed, and keep services apart', async () => {
    const handler = (mark: string) => defineTaskHandler({ type: 'mail', version: 1, handler: () => mark })
    // One behind the other, as no prefix may begin with another.
    const prefixes = WELL_FORMED.filter((text) => text.length < 512).map((text, index) => `${String(index)};${text}/`)
    for (let from = 0; from < prefixes.length; from += 8) {
      const services = await Promise.all(
        prefixes.slice(from, from + 8).map(async (prefix) => {
          const service = await startService({ prefix, consumerGroup: prefix, serviceName: prefix })
          service.work([handler(prefix)])
          return { ...service, prefix }
        }),
      )
      const results = services.map(async ({ runner }) => {
        const { id } = await runner.submit({ type: 'mail', handlerVersion: 1, payload: 1 })
        return runner.waitFor(id, { timeoutMs: 10_000 })
      })
      expect(await Promise.all(results)).toEqual(services.map(({ prefix }) => prefix))
      await Promise.all(services.map(({ dispose }) => dispose()))
    }
  })
})

describe('steps of a handler', () => {
  it('are found again under whatever name', async () => {
    const types = WELL_FORMED.slice(0, 20)
    const urls = ['\ud800', '__proto__', 'x'.repeat(20_000), 'a b\n', '#', 'ä'].map((text) => `data:text/plain,${text}`)
    for (const { runner, work, troubles } of await startStacks()) {
      let runs = 0
      const parent = defineTaskHandler({
        type: 'the parent',
        version: 1,
        handler: async (ctx) => {
          runs++
          const bodies: string[] = []
          for (const url of urls) bodies.push(await (await ctx.fetch(url)).text())
          const children = await Promise.all(types.map((type) => ctx.spawnChild<string, string>(type, type)))
          return { bodies, children: await ctx.awaitChildren(children) }
        },
      })
      work([
        parent,
        ...types.map((type) => defineTaskHandler({ type, version: 1, handler: (_, own: string) => `${type} ${own}` })),
      ])
      const { id } = await runner.submit({ type: 'the parent', handlerVersion: 1, payload: null })
      const result = await runner.waitFor<{ bodies: string[]; children: string[] }>(id, { timeoutMs: 15_000 })
      expect(result.children).toEqual(types.map((type) => `${type} ${type}`))
      expect(result.bodies).toHaveLength(urls.length)
      expect(runs).toBeGreaterThan(1)
      expect(troubles).toEqual([])
    }
  })
})
