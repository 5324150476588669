import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

import {
  defineTaskHandler,
  isTerminalStatus,
  PayloadError,
  type DefineTaskHandlerOptions,
  type Task,
  type TaskContext,
  type TaskRunner,
} from '@furystack/task-runner'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'

import { deferred } from '../support/deferred.js'
import { type Fault, Link } from '../support/link.js'
import { until } from '../support/until.js'
import type { MakeRunners } from './runnerSuite.js'

type Handler = (ctx: TaskContext<unknown>, payload: unknown) => unknown
type Wait = 'awaitChildren' | 'awaitChildrenSettled'
type More = Partial<DefineTaskHandlerOptions<unknown, unknown>>

/** Every byte there is, among them those that are no UTF-8. */
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))

const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`
}

/** All that a handler sees of a response, as JSON keeps it. */
const describeResponse = async (response: Response) => ({
  status: response.status,
  statusText: response.statusText,
  ok: response.ok,
  url: response.url,
  redirected: response.redirected,
  headers: [...response.headers].filter(([name]) => name !== 'date'),
  setCookie: response.headers.getSetCookie(),
  hasBody: response.body !== null,
  body: Buffer.from(await response.arrayBuffer()).toString('base64'),
})

/** What any task runner has to do about what a handler is answered when it is run again, and about steps it cannot keep. */
export const runnerReplaySuite = (name: string, makeRunners: MakeRunners): void => {
  describe(`${name} as a runner of handlers that are run again`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    /** A parent, run up to its first wait; its children end once it is told to go on, which it is by `resume`. */
    const setUp = async (
      handler: Handler,
      { link, maxPayloadBytes, ...more }: More & { link?: Link; maxPayloadBytes?: number } = {},
    ) => {
      const harness = await makeRunners(1, {
        ...(link && { link, reconcilerIntervalMs: 100 }),
        ...(maxPayloadBytes !== undefined && { maxPayloadBytes }),
      })
      cleanups.push(() => harness.dispose())
      const runner: TaskRunner = harness.runners[0]!
      const gate = deferred()
      const lags: number[] = []
      harness.telemetry.addListener('onTaskClaimed', ({ type, queueLagMs }) => {
        if (type === 'parent') lags.push(queueLagMs)
      })
      runner.registerWorker({
        name: 'worker',
        handlers: [
          defineTaskHandler<unknown, unknown>({ type: 'parent', version: 1, handler, ...more }),
          defineTaskHandler<unknown, unknown>({
            type: 'child',
            version: 1,
            handler: (_, payload) => gate.promise.then(() => payload),
          }),
        ],
        concurrency: 10,
        tags: [],
        compatibleVersions: {},
      })
      const { id } = await runner.submit({ type: 'parent', handlerVersion: 1, payload: 0 })
      const reached = (isSo: (task: Task) => boolean, description: string): Promise<Task> =>
        until(
          async () => {
            const task = await runner.get(id)
            return task !== undefined && isSo(task) && task
          },
          { intervalMs: 5, description },
        )
      const ended = (): Promise<Task> => reached(({ status }) => isTerminalStatus(status), 'the parent has ended')
      const resume = async ({ afterMs = 0 } = {}): Promise<Task> => {
        await reached(({ status }) => status === 'waiting', 'the parent waits')
        if (afterMs > 0) await delay(afterMs)
        gate.resolve()
        return ended()
      }
      return { ended, resume, lags, openGate: () => gate.resolve() }
    }

    const statusesOf = ({ attempts }: Task) => attempts.map(({ status }) => status)

    it.each<[string, Handler]>([
      ['a child of another payload', (ctx) => ctx.spawnChildAndAwait('child', 2)],
      ['a step of another kind', (ctx) => ctx.random()],
      ['its end', () => 'done'],
    ])('T14 fails for good when a handler comes to %s, whatever it catches', async (_, instead) => {
      let runs = 0
      const { resume } = await setUp(
        async (ctx, payload) => {
          try {
            if (++runs > 1) return await instead(ctx, payload)
            ctx.now()
            return await ctx.spawnChildAndAwait('child', 1)
          } catch {
            return 'swallowed'
          }
        },
        { retryPolicy: { maxAttempts: 5, backoff: 'none' } },
      )
      const task = await resume()
      expect(task).toMatchObject({ status: 'failed', error: { name: 'ReplayMismatchError' } })
      expect(statusesOf(task)).toEqual(['suspended', 'failed'])
      expect(task.childTaskIds).toHaveLength(1)
      expect(runs).toBe(2)
    })

    it.each<[Wait, Wait | undefined, RegExp]>([
      ['awaitChildren', 'awaitChildrenSettled', /Step 1 .*"await-children 1 .*went on with "the end/],
      ['awaitChildrenSettled', 'awaitChildren', /Step 1 .*"await-children-settled 1 .*went on with "the end/],
      ['awaitChildren', undefined, /Step 1 .*"await-children 1 .*went on with "the end/],
    ])(
      'T14 fails for good when %s was answered, and %s is asked for in its place',
      async (before, instead, message) => {
        let runs = 0
        const { resume } = await setUp(
          async (ctx) => {
            const child = await ctx.spawnChild('child', 1)
            if (++runs < 3) await ctx[before]([child])
            else if (instead !== undefined) await ctx[instead]([child])
            // One run to wait, one that is answered, and the one with other code.
            if (runs === 2) ctx.notNow(0)
            return 'unnoticed'
          },
          { retryPolicy: { maxAttempts: 5, backoff: 'none' } },
        )
        expect(await resume()).toMatchObject({
          status: 'failed',
          error: {
            name: 'ReplayMismatchError',
            message: expect.stringMatching(message) as unknown,
          },
        })
        expect(runs).toBe(3)
      },
    )

    it.each<[string, Fault['when']]>([
      ['recordStep', 'before'],
      ['spawnChild', 'after'],
    ])(
      'T15 fails an attempt that cannot keep a step (%s, rejected %s it took effect), and takes no step twice',
      async (step, when) => {
        let isAway = true
        const link = new Link({
          faultOf: (call) => (isAway && call.name === step ? { how: 'reject', when } : undefined),
        })
        const { ended, openGate } = await setUp(
          async (ctx) => {
            if (ctx.attempt > 1) isAway = false
            try {
              const chance = ctx.random()
              return [chance, await ctx.spawnChildAndAwait('child', 1)]
            } catch {
              return 'swallowed'
            }
          },
          { link, retryPolicy: { maxAttempts: 2, backoff: 'none' } },
        )
        openGate()
        const task = await ended()
        expect(task).toMatchObject({ status: 'succeeded', result: [expect.any(Number), 1] })
        expect(statusesOf(task)[0]).toBe('failed')
        expect(statusesOf(task).filter((status) => status === 'failed')).toHaveLength(1)
        expect(task.childTaskIds).toHaveLength(1)
      },
    )

    it('T61 counts the lag of a parent from when its last child woke it, not from when it began to wait', async () => {
      const { resume, lags } = await setUp((ctx) => ctx.spawnChildAndAwait('child', 1))
      const { attempts, events } = await resume({ afterMs: 20 })
      const wokenAt = events.find(({ kind }) => kind === 'child-completed')?.at ?? ''
      // It is by the wait that the two differ.
      expect(Date.parse(wokenAt)).toBeGreaterThan(Date.parse(attempts[0]?.finishedAt ?? ''))
      expect(lags.slice(1)).toEqual([Date.parse(attempts[1]?.startedAt ?? '') - Date.parse(wokenAt)])
    })

    it('T20 answers a fetch as before, over a suspension, and calls once', async () => {
      let calls = 0
      const url = await serve((request, response) => {
        if (request.url === '/') return void response.writeHead(307, { location: '/final' }).end()
        calls++
        response.setHeader('set-cookie', ['a=1', 'b=2'])
        response.writeHead(418, 'Short and stout', { 'content-type': 'text/tea', 'x-kind': 'pot' }).end(BYTES)
      })
      const seen: unknown[] = []
      const { resume } = await setUp(async (ctx) => {
        const response = await describeResponse(await ctx.fetch(url, { method: 'POST', body: 'x' }))
        seen.push(response)
        await ctx.spawnChildAndAwait('child', 1)
        return response
      })
      const task = await resume()
      expect(task).toMatchObject({
        status: 'succeeded',
        result: {
          status: 418,
          statusText: 'Short and stout',
          ok: false,
          url: `${url}final`,
          redirected: true,
          headers: expect.arrayContaining([
            ['content-type', 'text/tea'],
            ['x-kind', 'pot'],
          ]) as unknown,
          setCookie: ['a=1', 'b=2'],
          body: BYTES.toString('base64'),
        },
      })
      expect(seen).toEqual([task.result, task.result])
      expect(calls).toBe(1)
    })

    it('T20 answers a fetch of a status that no class has, 999, as before, over a suspension', async () => {
      const url = await serve((_, response) => void response.writeHead(999, 'Denied').end('no'))
      const seen: unknown[] = []
      const { resume } = await setUp(async (ctx) => {
        const response = await describeResponse(await ctx.fetch(url))
        seen.push(response)
        await ctx.spawnChildAndAwait('child', 1)
        return response
      })
      const task = await resume()
      const body = Buffer.from('no').toString('base64')
      expect(task).toMatchObject({
        status: 'succeeded',
        result: { status: 999, statusText: 'Denied', ok: false, hasBody: true, body },
      })
      expect(seen).toEqual([task.result, task.result])
    })

    it('T20 refuses a body that is larger than may be kept as before, and reads it no further', async () => {
      const paths: string[] = []
      const left = deferred()
      const url = await serve((request, response) => {
        paths.push(request.url ?? '')
        if (request.url === '/fits') return void response.end(BYTES)
        if (request.url === '/more') return void response.end(Buffer.concat([BYTES, Buffer.of(0)]))
        // It has no end.
        pipeline(Readable.from(chunks()), response, () => left.resolve())
      })
      const chunks = function* () {
        for (;;) yield BYTES
      }
      const seen: unknown[] = []
      const { resume } = await setUp(
        async (ctx) => {
          const call = async (path: string): Promise<unknown> => {
            try {
              return (await (await ctx.fetch(`${url}${path}`)).arrayBuffer()).byteLength
            } catch (error) {
              return [error instanceof PayloadError, (error as Error).message]
            }
          }
          seen.push([await call('fits'), await call('more'), await call('endless')])
          await ctx.spawnChildAndAwait('child', 1)
          return 'done'
        },
        { maxPayloadBytes: BYTES.length },
      )
      expect(await resume()).toMatchObject({ status: 'succeeded' })
      const refused = (path: string) => [
        true,
        `The payload of the response to "GET ${url}${path}" cannot be stored: it takes more than 256 bytes`,
      ]
      const answers = [BYTES.length, refused('more'), refused('endless')]
      expect(seen).toEqual([answers, answers])
      expect(paths).toEqual(['/fits', '/more', '/endless'])
      await left.promise
    })

    it('T13 gives parallel calls of one URL their own answers, whichever comes first', async () => {
      const bodies: string[] = []
      const url = await serve((request, response) => {
        let body = ''
        request.setEncoding('utf8').on('data', (text: string) => (body += text))
        request.on('end', () => response.end(`answer ${String(bodies.push(body))} to ${body}`))
      })
      const seen: unknown[] = []
      const { resume } = await setUp(async (ctx) => {
        const answers: Record<string, string> = {}
        const pay = async (amount: string): Promise<void> => {
          answers[amount] = await (await ctx.fetch(url, { method: 'POST', body: amount })).text()
        }
        await Promise.all((ctx.attempt === 1 ? ['1', '2', '3'] : ['3', '1', '2']).map(pay))
        seen.push(answers)
        await ctx.spawnChildAndAwait('child', 1)
        return answers
      })
      const task = await resume()
      expect(task.status).toBe('succeeded')
      expect(seen).toEqual([task.result, task.result])
      expect(task.result).toEqual(
        Object.fromEntries(bodies.map((body, index) => [body, `answer ${String(index + 1)} to ${body}`])),
      )
      expect([...bodies].sort()).toEqual(['1', '2', '3'])
    })

    it.each([204, 205, 304])('T20 answers a fetch without a body, %i, as before, over a suspension', async (status) => {
      let calls = 0
      const url = await serve((_, response) => {
        calls++
        response.writeHead(status, { 'x-kind': 'empty' }).end()
      })
      const seen: unknown[] = []
      const { resume } = await setUp(async (ctx) => {
        const response = await describeResponse(await ctx.fetch(url))
        seen.push(response)
        await ctx.spawnChildAndAwait('child', 1)
        return response
      })
      const task = await resume()
      expect(task).toMatchObject({ status: 'succeeded', result: { status, hasBody: false, body: '', url } })
      expect(task.result).toMatchObject({ headers: expect.arrayContaining([['x-kind', 'empty']]) as unknown })
      expect(seen).toEqual([task.result, task.result])
      expect(calls).toBe(1)
    })
  })
}
