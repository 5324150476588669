import { inspect, isDeepStrictEqual } from 'node:util'

import { defineTaskHandler, type TaskContext } from '@furystack/task-runner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { assertProperty } from '../support/assertProperty.js'
import { settled, startStacks } from '../support/stacks.js'
import { until } from '../support/until.js'

const MiB = 2 ** 20

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
})
/** Mostly what JSON has, so that much of it gets through. */
const values = fc.oneof(
  { weight: 2, arbitrary: fc.jsonValue({ stringUnit: 'binary', maxDepth: 5 }) },
  { weight: 2, arbitrary: anything },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      undefined,
      -0,
      Number.NaN,
      Infinity,
      2 ** 53,
      1e308,
      5e-324,
      10n,
      '',
      '\ud800',
      '\0',
      new Date(0),
      [undefined],
      { a: undefined },
      JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
      () => 1,
      { toJSON: () => 'something else' },
    ),
  },
)

/** What reading a value member by member shows: no prototype, and no members that are `undefined`. */
const asRead = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(asRead)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([key, member]) => [key, asRead(member)]))
}

describe('payloads and results', () => {
  it('come back exactly, or are refused with the same words, whatever they are', async () => {
    const stacks = await startStacks()
    const results = new Map<unknown, unknown>()
    const seen: unknown[] = []
    const echo = defineTaskHandler({
      type: 'echo',
      version: 1,
      handler: (_, payload: unknown) => {
        seen.push(payload)
        return payload
      },
    })
    const produce = defineTaskHandler({ type: 'produce', version: 1, handler: (ctx) => results.get(ctx.payload) })
    for (const { work } of stacks) work([echo, produce])
    let kept = 0
    await assertProperty(
      [values, fc.uuid()],
      async ([value, key]) => {
        results.set(key, value)
        const outcomes = await Promise.all(
          stacks.map(async ({ runner }) => {
            const echoed = await settled(async () => {
              const { id, payload } = await runner.submit({ type: 'echo', handlerVersion: 1, payload: value })
              const result = await runner.waitFor(id, { timeoutMs: 10_000 })
              return { submitted: payload, stored: (await runner.get(id))?.payload, result }
            })
            const { id } = await runner.submit({ type: 'produce', handlerVersion: 1, payload: key })
            return { echoed, produced: await settled(() => runner.waitFor(id, { timeoutMs: 10_000 })) }
          }),
        )
        const read = asRead(value)
        for (const { echoed, produced } of outcomes) {
          if ('refused' in echoed) {
            expect(echoed).toEqual(outcomes[0]?.echoed)
            expect(echoed.refused).toBe('PayloadError')
            expect(withoutId(produced)).toEqual(withoutId(outcomes[0]?.produced))
            expect(produced).toMatchObject({ refused: 'TaskFailedError' })
            expect(JSON.stringify(produced)).toContain('ResultError')
          } else {
            kept++
            expectSame(echoed.value, { submitted: read, stored: read, result: read })
            expectSame(produced, { value: read })
            expectSame(seen.at(-1), read)
          }
        }
      },
      { numRuns: 60 },
    )
    expect(kept).toBeGreaterThan(30)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    for (const { troubles } of stacks) expect(troubles).toEqual([])
  })

  it('are refused before anything is written', async () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    const stacks = await startStacks()
    const refused = [cycle, Number.NaN, [10n], { at: new Date() }, new Map(), Symbol('s'), [undefined]]
    for (const payload of refused) {
      for (const { runner } of stacks) {
        const options = { type: 'mail', handlerVersion: 1, payload }
        const error = { name: 'PayloadError' }
        await expect(runner.submit(options)).rejects.toMatchObject(error)
        await expect(runner.draft(options)).rejects.toMatchObject(error)
        await expect(runner.submitMany([{ ...options, payload: 1 }, options])).rejects.toMatchObject(error)
        await expect(runner.start('nobody', { payload })).rejects.toMatchObject(error)
      }
    }
    for (const stack of stacks) expect(await stack.isUntouched()).toBe(true)
  })

  it('may replace those of a draft, whatever their lengths', async () => {
    const stacks = await startStacks()
    const payloads = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300, size: 'max' }),
      fc.jsonValue(),
      fc.constant(undefined),
    )
    await assertProperty(
      [payloads, payloads],
      async ([first, second]) => {
        for (const { runner } of stacks) {
          const draft = await runner.draft({ type: 'draft', handlerVersion: 1, payload: first })
          expectSame((await runner.get(draft.id))?.payload, asRead(first))
          expectSame((await runner.start(draft.id, { payload: second })).payload, asRead(second))
          expectSame((await runner.get(draft.id))?.payload, asRead(second))
        }
      },
      { numRuns: 40 },
    )
  })

  it('may be empty, and as large as 10 MiB', { timeout: 60_000 }, async () => {
    for (const { runner, work } of await startStacks()) {
      work([defineTaskHandler({ type: 'echo', version: 1, handler: (_, payload: unknown) => payload })])
      for (const payload of ['', 'x'.repeat(10 * MiB), '😀€'.repeat(MiB / 4)]) {
        const { id } = await runner.submit({ type: 'echo', handlerVersion: 1, payload })
        const result = await runner.waitFor<string>(id, { timeoutMs: 30_000 })
        // Not `toBe`: a difference of that size would not be shown within any time.
        expect(result === payload).toBe(true)
      }
      // More than one command may carry.
      const payloads = Array.from({ length: 20 }, (_, n) => String.fromCharCode(97 + n).repeat(MiB))
      const tasks = await runner.submitMany(payloads.map((payload) => ({ type: 'pile', handlerVersion: 1, payload })))
      expect((await runner.get(tasks.at(-1)?.id ?? ''))?.payload === payloads.at(-1)).toBe(true)
    }
  })
})

describe('a limit of bytes', () => {
  it('holds for payloads, results and progress, counted as UTF-8', async () => {
    for (const { runner, work, troubles } of await startStacks({ maxPayloadBytes: 100 })) {
      expect(runner.capabilities.maxPayloadBytes).toBe(100)
      const grow = defineTaskHandler({
        type: 'grow',
        version: 1,
        handler: (ctx, size: number) => {
          ctx.reportProgress({ percent: 1, meta: 'x'.repeat(size) })
          return 'x'.repeat(size)
        },
      })
      work([grow])
      const options = { type: 'mail', handlerVersion: 1 }
      await runner.submit({ ...options, payload: 'x'.repeat(98) })
      for (const payload of ['x'.repeat(99), '€'.repeat(33), { a: ['x'.repeat(93)] }]) {
        const refused = {
          name: 'PayloadError',
          message: expect.stringMatching(/\d+ bytes as JSON, more than 100/) as string,
        }
        await expect(runner.submit({ ...options, payload })).rejects.toMatchObject(refused)
        await expect(runner.submitMany([{ ...options, payload }])).rejects.toMatchObject(refused)
        const draft = await runner.draft({ ...options, payload: 1 })
        await expect(runner.start(draft.id, { payload })).rejects.toMatchObject(refused)
      }
      const [fits, grows] = await Promise.all(
        [98, 99].map((payload) => runner.submit({ type: 'grow', handlerVersion: 1, payload })),
      )
      expect(await runner.waitFor(fits?.id ?? '', { timeoutMs: 10_000 })).toHaveLength(98)
      await expect(runner.waitFor(grows?.id ?? '', { timeoutMs: 10_000 })).rejects.toThrow(/101 bytes as JSON/)
      expect(troubles.map(({ operation }) => operation)).toEqual(['progress'])
    }
  })
})

describe('progress', () => {
  it('tells what was stored, also when its meta changes afterwards, and drops what cannot be', async () => {
    for (const { runner, work, troubles, name } of await startStacks()) {
      const report = async (ctx: TaskContext<unknown>): Promise<void> => {
        const meta = { page: 1, list: ['a'] }
        ctx.reportProgress({ percent: -0, meta })
        meta.list.push('b')
        ctx.reportProgress({ percent: 50, meta: { at: new Date(0) } })
        ctx.reportProgress({ percent: Number.NaN })
        ctx.reportProgress(null as never)
        ctx.reportProgress(
          new Proxy(
            { percent: 1 },
            {
              get: () => {
                throw new Error('not to be looked at')
              },
            },
          ),
        )
        await Promise.resolve()
      }
      work([defineTaskHandler({ type: 'report', version: 1, handler: report })])
      const updates: unknown[] = []
      using _subscription = runner.subscribeByType('report', (update) => {
        if (update.kind === 'progress') updates.push(update.meta)
      })
      const { id } = await runner.submit({ type: 'report', handlerVersion: 1, payload: 1 })
      await runner.waitFor(id, { timeoutMs: 10_000 })
      const task = await runner.get(id)
      expect([name, task?.status, task?.progress?.percent, task?.progress?.meta]).toEqual([
        name,
        'succeeded',
        0,
        { page: 1, list: ['a'] },
      ])
      expect(updates).toEqual([{ page: 1, list: ['a'] }])
      expect(troubles.map(({ operation }) => operation)).toEqual(Array(4).fill('progress'))
    }
  })
})

describe('numbers at their limits', () => {
  it('do not make a row that nobody can read', async () => {
    for (const { runner, work } of await startStacks()) {
      const handler = defineTaskHandler({
        type: 'sleep',
        version: 1,
        handler: (ctx: TaskContext<number>, ms) => ctx.sleep(ms),
      })
      work([handler])
      for (const ms of [1e308, 8.64e15, Number.MAX_SAFE_INTEGER]) {
        const { id } = await runner.submit({ type: 'sleep', handlerVersion: 1, payload: ms })
        const parked = async () => {
          const task = await runner.get(id)
          return task?.notBefore !== undefined && task
        }
        const task = await until(parked, { description: 'the task to be parked' })
        expect(task.status).toBe('pending')
        await runner.cancel(id)
        expect((await runner.get(id))?.status).toBe('cancelled')
      }
      for (const notBefore of [new Date(8.64e15), new Date(-8.64e15)]) {
        const { id } = await runner.submit({ type: 'idle', handlerVersion: 2 ** 53 - 1, payload: 1, notBefore })
        expect(await runner.get(id)).toMatchObject({
          notBefore: notBefore.toISOString(),
          handlerVersion: Number.MAX_SAFE_INTEGER,
        })
      }
    }
  })

  it.each<[string, object]>([
    ['visibilityTimeoutMs', { visibilityTimeoutMs: 1e308 }],
    ['visibilityTimeoutMs', { visibilityTimeoutMs: Number.MAX_SAFE_INTEGER }],
    ['retentionPolicy.ttlAfterTerminalDays', { retentionPolicy: { ttlAfterTerminalDays: 1e308 } }],
    ['version', { version: 2 ** 53 }],
    ['retryPolicy.baseDelayMs', { retryPolicy: { baseDelayMs: Number.NaN } }],
  ])('are refused where they cannot be: %s', (property, options) => {
    const define = () => defineTaskHandler({ type: 'a', version: 1, handler: () => 1, ...options })
    expect(define).toThrow(expect.objectContaining({ name: 'InvalidArgumentError', property }))
  })
})

/** Messages name the task, which has another id in each stack. */
const withoutId = (outcome: unknown): string =>
  JSON.stringify(outcome).replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, 'id')

/** To the sign of zero, and whatever members are called, which `toStrictEqual` is misled by. */
const expectSame = (actual: unknown, expected: unknown): void => {
  if (!isDeepStrictEqual(actual, expected)) expect(inspect(actual)).toBe(inspect(expected))
}
