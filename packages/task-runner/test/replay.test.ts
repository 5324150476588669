import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

import { Observable } from 'rxjs'
import { describe, expect, it, onTestFinished } from 'vitest'

import { deferred } from '../../../test/support/deferred.js'
import { until } from '../../../test/support/until.js'
import { MemoryTaskStore, type ChildHandle, type TaskContext, type TaskStore } from '../src/index.js'
import { overrideStore } from './support/overrideStore.js'
import { handle, setUpCore, type CoreSetup, type TestHandler } from './support/setUpCore.js'

/** A core whose tasks of type `mail` run this handler; each delivery is one run, and children end when they are told to. */
const setUp = (handler: TestHandler, more: CoreSetup & { maxAttempts?: number } = {}) => {
  const { maxAttempts = 1, ...setup } = more
  const core = setUpCore(setup)
  core.register([
    handle((ctx, payload) => handler(ctx, payload), { retryPolicy: { maxAttempts } }),
    handle(() => Promise.resolve('done'), { type: 'child' }),
    handle((_, payload) => ({ of: payload }), { type: 'echo' }),
    handle(() => Promise.reject(new Error('no')), { type: 'bad' }),
  ])
  const run = (taskId: string) => core.adapter.deliver(taskId)
  /** Runs every open child of a task. */
  const runChildren = async (taskId: string): Promise<void> => {
    for (const childId of (await core.read(taskId)).childTaskIds) {
      const { status, type } = await core.read(childId)
      if (status === 'pending') await core.adapter.deliver(childId, { type })
    }
  }
  return { ...core, run, runChildren }
}

const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** Fails the next calls of an operation. */
const failing = (name: keyof TaskStore, times: () => number) => {
  const memory = new MemoryTaskStore()
  let calls = 0
  const operation = Reflect.get(memory, name) as (...args: unknown[]) => unknown
  const store = overrideStore(memory, {
    [name]: (...args: unknown[]) =>
      calls++ < times() ? Promise.reject(new Error('the store is away')) : operation.apply(memory, args),
  })
  return store
}

const suspended = { kind: 'suspended' }

describe('a handler that is run again', () => {
  it('T14 fails for good when it takes another step than the recorded one', async () => {
    let second = false
    const { submit, run, runChildren, read } = setUp(
      async (ctx) => {
        await ctx.spawnChildAndAwait('child', second ? 2 : 1)
        return 'unnoticed'
      },
      { maxAttempts: 5 },
    )
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    await runChildren(id)
    second = true
    expect(await run(id)).toEqual({ kind: 'failed' })
    const { status, error, childTaskIds } = await read(id)
    expect({ status, name: error?.name }).toEqual({ status: 'failed', name: 'ReplayMismatchError' })
    expect(error?.message).toMatch(/Step 0 .*recorded as "spawn-child "child" .*went on with "spawn-child "child"/)
    expect(childTaskIds).toHaveLength(1)
  })

  it.each<[string, (ctx: TaskContext<unknown>) => unknown]>([
    ['a step of another kind', (ctx) => ctx.random()],
    ['its end', () => 'done'],
  ])('T14 fails for good when it comes to %s instead, and cannot catch that', async (_, instead) => {
    let second = false
    const { submit, run, runChildren, read } = setUp(async (ctx) => {
      try {
        if (second) return instead(ctx)
        ctx.now()
        return await ctx.spawnChildAndAwait('child', 1)
      } catch {
        return 'swallowed'
      }
    })
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    await runChildren(id)
    second = true
    expect(await run(id)).toEqual({ kind: 'failed' })
    expect((await read(id)).error?.name).toBe('ReplayMismatchError')
  })

  it('T14 lets a handler wait in another way once a wait was rejected, in each run', async () => {
    let runs = 0
    const { submit, run, runChildren, read } = setUp(async (ctx) => {
      const child = await ctx.spawnChild('bad', 1)
      const rejected = await ctx.awaitChildren([child]).catch((error: unknown) => (error as Error).name)
      const [settled] = await ctx.awaitChildrenSettled([child])
      if (++runs === 1) ctx.notNow(0)
      return [rejected, settled?.status, ctx.random()]
    })
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    await runChildren(id)
    expect(await run(id)).toMatchObject({ kind: 'requeue' })
    expect(await run(id)).toEqual({ kind: 'success' })
    expect((await read(id)).result).toEqual(['ChildTaskError', 'failed', expect.any(Number)])
  })

  it('T13 finds the steps of parallel branches, whichever comes first', async () => {
    let order = [1, 2, 3]
    const { submit, run, runChildren, read } = setUp(async (ctx) => {
      const results: Record<number, unknown> = {}
      const branch = async (n: number) => {
        const before = await ctx.spawnChildAndAwait('echo', n)
        results[n] = await ctx.spawnChildAndAwait('echo', before)
      }
      await Promise.all(order.map(branch))
      return results
    })
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    await runChildren(id)
    order = [3, 1, 2]
    expect(await run(id)).toEqual(suspended)
    await runChildren(id)
    order = [2, 3, 1]
    expect(await run(id)).toEqual({ kind: 'success' })
    const { childTaskIds, result } = await read(id)
    expect(childTaskIds).toHaveLength(6)
    expect(result).toEqual({ 1: { of: { of: 1 } }, 2: { of: { of: 2 } }, 3: { of: { of: 3 } } })
  })

  it('T6 has the same child when the answer of its creation got lost', async () => {
    const memory = new MemoryTaskStore()
    let lose = true
    const store = overrideStore(memory, {
      spawnChild: async (input) => {
        const result = await memory.spawnChild(input)
        if (lose) throw new Error(`the answer ${String((lose = false))} is lost`)
        return result
      },
    })
    const { submit, run, runChildren, read } = setUp((ctx) => ctx.spawnChildAndAwait('child', 1), { store })
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    expect((await read(id)).childTaskIds).toHaveLength(1)
    await runChildren(id)
    expect(await run(id)).toEqual({ kind: 'success' })
  })

  it('T6 spawns nothing twice when its worker died after the spawn', async () => {
    const died = deferred()
    let handles: Array<ChildHandle<unknown>> = []
    const { submit, run, adapter, store, read } = setUp(async (ctx) => {
      handles = [...handles, await ctx.spawnChild('child', 1)]
      if (ctx.attempt === 1) await died.promise
      return ctx.awaitChildren([handles[0]!])
    })
    const { id } = await submit()
    const first = run(id)
    await until(async () => (await read(id)).childTaskIds.length === 1)
    await store.expireAttempts({ limit: 1 })
    expect(await adapter.deliver(id, { redelivered: true })).toEqual(suspended)
    expect((await read(id)).childTaskIds).toHaveLength(1)
    expect(handles[0]).toEqual(handles[1])
    died.resolve()
    // The first run is nobody's any more, and stands in nobody's way.
    expect(await first).toEqual({ kind: 'success' })
    expect((await read(id)).status).toBe('waiting')
  })

  it.each(['spawnChild', 'recordStep'] as const)('gets over a moment without the store: %s', async (name) => {
    const store = failing(name, () => 2)
    const { submit, run, read } = setUp((ctx) => (ctx.random(), ctx.spawnChildAndAwait('child', 1)), { store })
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    expect((await read(id)).childTaskIds).toHaveLength(1)
  })

  it.each(['spawnChild', 'recordStep'] as const)(
    'T15 fails its attempt when a step cannot be recorded, whatever it catches: %s',
    async (name) => {
      const store = failing(name, () => Infinity)
      const { submit, run, read } = setUp(
        async (ctx) => {
          try {
            ctx.now()
            return await ctx.spawnChildAndAwait('child', 1)
          } catch {
            return 'swallowed'
          }
        },
        { store },
      )
      const { id } = await submit()
      expect(await run(id)).toEqual({ kind: 'failed' })
      expect((await read(id)).error).toEqual({ name: 'Error', message: 'the store is away' })
    },
  )

  it('T16 has recorded now and random before it suspends, and before it ends', async () => {
    const memory = new MemoryTaskStore()
    const store = overrideStore(memory, {
      recordStep: (input) => new Promise((resolve) => setTimeout(() => resolve(memory.recordStep(input)), 50)),
    })
    const seen: unknown[] = []
    const { submit, run, runChildren } = setUp(
      async (ctx) => {
        const handle = await ctx.spawnChild<number, string>('child', 1)
        seen.push([ctx.now().getTime(), ctx.random()])
        await ctx.awaitChildren([handle])
        return ctx.random()
      },
      { store },
    )
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    expect(await memory.readSteps(id)).toHaveLength(3)
    await runChildren(id)
    expect(await run(id)).toEqual({ kind: 'success' })
    expect(seen[0]).toEqual(seen[1])
    expect(await memory.readSteps(id)).toHaveLength(5)
  })

  it('T16 has recorded now before it takes a step that may be about it', async () => {
    const memory = new MemoryTaskStore()
    const order: string[] = []
    const store = overrideStore(memory, {
      recordStep: async (input) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        order.push(input.step.key)
        return memory.recordStep(input)
      },
      spawnChild: (input) => {
        order.push('spawn')
        return memory.spawnChild(input)
      },
    })
    const { submit, run } = setUp(async (ctx) => void (await ctx.spawnChild('child', ctx.now().getTime())), { store })
    expect(await run((await submit()).id)).toEqual({ kind: 'success' })
    expect(order).toEqual(['now#0~0', 'spawn'])
  })

  it('T16 has recorded what is taken beside an await before it suspends', async () => {
    const memory = new MemoryTaskStore()
    const store = overrideStore(memory, {
      recordStep: (input) => new Promise((resolve) => setTimeout(() => resolve(memory.recordStep(input)), 50)),
    })
    const seen: number[] = []
    const { submit, run } = setUp(
      async (ctx) => {
        const handle = await ctx.spawnChild<number, string>('child', 1)
        const waiting = ctx.awaitChildren([handle])
        seen.push(ctx.random())
        await waiting
      },
      { store },
    )
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    const steps = await memory.readSteps(id)
    expect(steps.map(({ json }) => (JSON.parse(json) as { output?: unknown }).output)).toContain(seen[0])
  })

  it('T16 does not mind that a run was cut off between the records of now and random', async () => {
    const store = new MemoryTaskStore()
    const { submit, run, read } = setUp((ctx) => Promise.resolve([ctx.now().getTime() > 0, ctx.random()]), { store })
    const { id: taskId } = await submit()
    await store.beginAttempt({ taskId, workerId: 'dead', visibilityTimeoutMs: 0, redelivered: false })
    const entry = { kind: 'random', name: 'random', index: 1, generation: 0, output: 0.25 }
    await store.recordStep({ taskId, attempt: 1, step: { key: 'random#0~0', json: JSON.stringify(entry) } })
    expect(await run(taskId)).toEqual({ kind: 'success' })
    expect((await read(taskId)).result).toEqual([true, 0.25])
  })

  it('T18 does nothing any more in other branches once it has been suspended', async () => {
    const later = deferred()
    let reached = 0
    const { submit, run, read } = setUp(async (ctx) => {
      const straggler = async () => {
        await later.promise
        reached++
        try {
          await ctx.spawnChild('child', 'late')
        } finally {
          reached += 10
        }
      }
      await Promise.all([ctx.spawnChildAndAwait('child', 1), straggler()])
    })
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    later.resolve()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(reached).toBe(1)
    expect((await read(id)).childTaskIds).toHaveLength(1)
  })

  it.each<[string, keyof TaskStore, (ctx: TaskContext<unknown>) => Promise<unknown>]>([
    ['a record of a blob', 'recordBlob', (ctx) => ctx.consumeBlob({ storeName: 'blobs', key: 'a' })],
    ['a heartbeat', 'extendAttempt', (ctx) => ctx.heartbeat()],
  ])('T18 settles %s no more that was under way when it was suspended', async (_, name, ask) => {
    const [cutOff, answered] = [deferred(), deferred()]
    const memory = new MemoryTaskStore()
    const operation = Reflect.get(memory, name) as (...args: unknown[]) => Promise<unknown>
    const store = overrideStore(memory, {
      [name]: async (...args: unknown[]) => {
        await cutOff.promise
        const answer = await operation.apply(memory, args)
        answered.resolve()
        return answer
      },
    })
    const seen: unknown[] = []
    const { submit, run } = setUp(
      // It is left when the run is cut off.
      (ctx) =>
        new Observable(() => {
          const end = (how: unknown): void => void seen.push(how)
          ask(ctx).then(end, end)
          void ctx.spawnChildAndAwait('child', 1)
          return () => cutOff.resolve()
        }),
      { store },
    )
    expect(await run((await submit()).id)).toEqual(suspended)
    await answered.promise
    await new Promise(setImmediate)
    expect(seen).toEqual([])
  })

  it('T18 refuses steps after the end of the run', async () => {
    const context = deferred<TaskContext<unknown>>()
    const { submit, run } = setUp((ctx) => Promise.resolve(context.resolve(ctx)))
    const { id } = await submit()
    await run(id)
    const ctx = await context.promise
    for (const step of [() => ctx.spawnChild('child', 1), () => ctx.sleep(1), () => ctx.fetch('http://localhost')]) {
      await expect(step()).rejects.toMatchObject({ name: 'AttemptEndedError' })
    }
    expect(() => ctx.now()).toThrow('has ended')
  })

  it('T36 spawns the newest version that is registered, or 1, unless it is told', async () => {
    const { submit, run, read, register } = setUp(async (ctx) => {
      await ctx.spawnChild('versioned', 1)
      await ctx.spawnChild('versioned', 2, { handlerVersion: 2, tags: ['gpu'] })
      await ctx.spawnChild('elsewhere', 3)
      await ctx.sleep(0)
    })
    const noop = () => Promise.resolve()
    register([1, 2, 3].map((version) => handle(noop, { type: 'versioned', version })))
    const keep = { onSuccess: 'delete-all', onFailure: 'keep', ttlAfterTerminalDays: 7 } as const
    register([handle(noop, { type: 'versioned', version: 4, retentionPolicy: keep })])
    const { id } = await submit()
    await run(id)
    const children = await Promise.all((await read(id)).childTaskIds.map(read))
    expect(children.map(({ handlerVersion }) => handlerVersion)).toEqual([4, 2, 1])
    expect(children[0]?.retentionPolicy).toEqual(keep)
    expect(children[1]?.tags).toEqual(['gpu'])
  })

  it('refuses to wait for what is not its child', async () => {
    const { submit, run, read } = setUp((ctx, payload) => ctx.awaitChildren([payload as ChildHandle<unknown>]))
    const other = await submit()
    for (const taskId of [other.id, 'nobody']) {
      const { id } = await submit({ payload: { taskId, type: 'mail' } })
      expect(await run(id)).toEqual({ kind: 'failed' })
      expect((await read(id)).error?.message).toContain(taskId)
    }
  })
})

describe('a sleep', () => {
  it('T21 gives the slot back when it is long, and goes on from where it began', async () => {
    let ms = 0
    const store = new MemoryTaskStore({ now: () => Date.now() + ms })
    const { submit, run, read, adapter } = setUp(
      async (ctx) => (await Promise.all([ctx.sleep(20_000), ctx.sleep(60_000)]), 'slept'),
      { parkSleepsAfterMs: 5_000, store },
    )
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    const parked = await read(id)
    expect(parked).toMatchObject({ status: 'pending', attempts: [{ status: 'suspended' }] })
    const [due, began] = [Date.parse(parked.notBefore!), Date.parse(parked.attempts[0]!.startedAt)]
    expect(due - began).toBeGreaterThanOrEqual(19_990)
    expect(adapter.enqueued.at(-1)).toMatchObject({ taskId: id, notBefore: new Date(due) })
    // Whoever comes before its end is sent away.
    expect(await run(id)).toEqual({ kind: 'requeue', notBefore: expect.any(Date) as Date })
    ms = 20_050
    expect(await run(id)).toEqual(suspended)
    expect(Math.abs(Date.parse((await read(id)).notBefore!) - began - 60_000)).toBeLessThan(1_000)
  })

  it('T21 is over in the next run when its time has come', async () => {
    let ms = 0
    const store = new MemoryTaskStore({ now: () => Date.now() + ms })
    const { submit, run } = setUp(async (ctx) => (await ctx.sleep(60_000), 'slept'), {
      parkSleepsAfterMs: 5_000,
      store,
    })
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    ms = 61_000
    expect(await run(id)).toEqual({ kind: 'success' })
  })

  it('keeps its slot when the queue cannot delay', async () => {
    const { FakeQueueAdapter } = await import('./support/fakeQueueAdapter.js')
    const { submit, run } = setUp((ctx) => ctx.sleep(20), {
      parkSleepsAfterMs: 1,
      queueAdapter: new FakeQueueAdapter({ delayedDispatch: false }),
    })
    expect(await run((await submit()).id)).toEqual({ kind: 'success' })
  })
})

describe('a recorded fetch', () => {
  const twice = async (url: string, more: { maxAttempts?: number; failFirst?: boolean } = {}) => {
    const responses: Response[] = []
    const setup = setUp(
      async (ctx) => {
        const response = await ctx.fetch(url, { method: 'post', body: 'x' })
        responses.push(response)
        if (more.failFirst === true && responses.length === 1) throw new Error('once')
        await ctx.spawnChildAndAwait('child', 1)
        return response.text()
      },
      { maxAttempts: more.maxAttempts ?? 1 },
    )
    const { id } = await setup.submit()
    await setup.run(id)
    if (more.failFirst === true) await setup.run(id)
    await setup.runChildren(id)
    await setup.run(id)
    return { responses, task: await setup.read(id) }
  }

  it('T20 calls once, and answers the same with all its headers', async () => {
    let calls = 0
    const url = await serve((request, response) => {
      calls++
      if (request.url === '/') return void response.writeHead(307, { location: '/final' }).end()
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.writeHead(201, 'Made').end(`${request.method} äöü`)
    })
    const { responses, task } = await twice(url)
    expect(task).toMatchObject({ status: 'succeeded', result: 'POST äöü' })
    expect(calls).toBe(2)
    for (const response of responses) {
      expect(response).toMatchObject({
        status: 201,
        statusText: 'Made',
        redirected: true,
        url: `${url}final`,
        ok: true,
      })
      expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
      expect(response.headers.has('content-length')).toBe(false)
    }
    expect(responses).toHaveLength(2)
  })

  it('T13 is told from others of the same URL by its body, whichever comes first', async () => {
    const bodies: Record<string, () => Exclude<RequestInit['body'], undefined>> = {
      none: () => null,
      empty: () => '',
      text: () => 'a=1',
      parameters: () => new URLSearchParams({ a: '2' }),
      bytes: () => Uint8Array.of(0, 97, 61, 51, 0).subarray(1, 4),
      buffer: () => new TextEncoder().encode('a=4').buffer,
      form: () => form('a', '5'),
      'another form': () => form('a', '6'),
      file: () => form('a', new File(['7'], 'a.txt')),
      'another file': () => form('a', new File(['8'], 'b.txt')),
      blob: () => new Blob(['a=90']),
    }
    const form = (name: string, value: string | Blob): FormData => {
      const data = new FormData()
      // Of another type, this would be another overload.
      if (typeof value === 'string') data.set(name, value)
      else data.set(name, value)
      return data
    }
    let calls = 0
    const url = await serve((request, response) => {
      calls++
      request.setEncoding('utf8')
      let body = ''
      request.on('data', (text: string) => (body += text)).on('end', () => response.end(body))
    })
    let order = Object.keys(bodies)
    const { submit, run, runChildren, read } = setUp(async (ctx) => {
      const answers: Record<string, string> = {}
      await Promise.all(
        order.map(async (name) => {
          answers[name] = await (await ctx.fetch(url, { method: 'POST', body: bodies[name]!() })).text()
        }),
      )
      await ctx.spawnChildAndAwait('child', 1)
      return answers
    })
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    await runChildren(id)
    order = order.reverse()
    expect(await run(id)).toEqual({ kind: 'success' })
    const fileOf = (name: string, content: string): unknown =>
      expect.stringMatching(new RegExp(`filename="${name}"[^]*\n${content}\r`))
    expect((await read(id)).result).toEqual({
      none: '',
      empty: '',
      text: 'a=1',
      parameters: 'a=2',
      bytes: 'a=3',
      buffer: 'a=4',
      form: expect.stringMatching(/name="a"[^]*\n5\r/) as unknown,
      'another form': expect.stringMatching(/name="a"[^]*\n6\r/) as unknown,
      file: fileOf('a.txt', '7'),
      'another file': fileOf('b.txt', '8'),
      blob: 'a=90',
    })
    expect(calls).toBe(order.length)
  })

  it('T14 fails for good when it is made with another body than the recorded one', async () => {
    const sent: string[] = []
    const url = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => sent.push(text))
      request.on('end', () => response.end())
    })
    let body = '{"amount":1}'
    const { submit, run, runChildren, read } = setUp(async (ctx) => {
      await ctx.fetch(url, { method: 'POST', body })
      return ctx.spawnChildAndAwait('child', 1)
    })
    const { id } = await submit()
    expect(await run(id)).toEqual(suspended)
    await runChildren(id)
    body = '{"amount":2}'
    expect(await run(id)).toEqual({ kind: 'failed' })
    expect((await read(id)).error).toMatchObject({
      name: 'ReplayMismatchError',
      message: expect.stringMatching(/Step 0 .*"fetch POST http.* went on with "fetch POST http/) as unknown,
    })
    expect(sent).toEqual(['{"amount":1}'])
  })

  it.each<[string, RequestInit | null]>([
    ['null', null],
    ['a method that is none', { method: 7 as unknown as string }],
  ])('rejects for an argument that cannot be: %s', async (_, init) => {
    const { submit, run, read } = setUp((ctx) =>
      ctx.fetch('http://127.0.0.1:1/', init as RequestInit).catch((error: unknown) => (error as Error).name),
    )
    const { id } = await submit()
    expect(await run(id)).toEqual({ kind: 'success' })
    expect((await read(id)).result).toBe('TypeError')
  })

  it('T19 T20 repeats what did not succeed, but in a retry only', async () => {
    let calls = 0
    const url = await serve((_, response) => void response.writeHead(calls++ === 0 ? 500 : 200).end(`${calls}`))
    const { responses, task } = await twice(url, { maxAttempts: 2, failFirst: true })
    expect(task).toMatchObject({ status: 'succeeded', result: '2' })
    expect(responses.map(({ status }) => status)).toEqual([500, 200, 200])
    expect(calls).toBe(2)
  })

  it('T20 answers a rejection again, and stops with the run', async () => {
    const hanging = deferred()
    const url = await serve(() => hanging.resolve())
    const seen: unknown[] = []
    const setup = setUp(async (ctx, payload) => {
      if (payload === 'hang') return ctx.fetch(url)
      seen.push(await ctx.fetch('http://127.0.0.1:1/').catch((error: unknown) => error))
      return ctx.spawnChildAndAwait('child', 1)
    })
    const { id } = await setup.submit()
    expect(await setup.run(id)).toEqual(suspended)
    await setup.runChildren(id)
    expect(await setup.run(id)).toEqual({ kind: 'success' })
    expect(seen).toMatchObject([{ name: 'TypeError' }, { name: 'TypeError' }])
    const hang = await setup.submit({ payload: 'hang' })
    const outcome = setup.run(hang.id)
    await hanging.promise
    await setup.core.cancel(hang.id)
    expect(await outcome).toEqual({ kind: 'cancelled' })
  })
})
