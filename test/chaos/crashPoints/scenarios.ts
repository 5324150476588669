import { Readable } from 'node:stream'

import {
  type AnyTaskHandlerDescriptor,
  defineTaskHandler,
  type DefineTaskHandlerOptions,
  isTerminalStatus,
  type SubmitOptions,
  type Task,
  type TaskContext,
  type TaskRunner,
} from '@furystack/task-runner'
import { expect } from 'vitest'

import { deferred } from '../../support/deferred.js'
import type { HandlerStage, LogLine, Outcome, Scenario, Stage } from './scenario.js'

type Handler = (ctx: TaskContext<number>, payload: number) => unknown
type More = Partial<DefineTaskHandlerOptions<number, unknown>>

/** A handler whose every run is written down. */
const handle = ({ log, visibilityMs }: HandlerStage, type: string, handler: Handler, more: More = {}) =>
  defineTaskHandler<number, unknown>({
    type,
    version: 1,
    visibilityTimeoutMs: visibilityMs,
    handler: (ctx, payload) => {
      log({ kind: 'ran', taskId: ctx.taskId })
      return handler(ctx, payload)
    },
    ...more,
  })

const JOB: SubmitOptions<number> = { type: 'job', payload: 21, handlerVersion: 1 }

const double: Handler = (_, n) => n * 2

const doubling = (stage: HandlerStage): AnyTaskHandlerDescriptor[] => [handle(stage, 'job', double)]

const untilAborted: Handler = ({ cancellationSignal: signal }) =>
  new Promise((_, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error)
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
  })

/** Hears of this process's own tasks of a type, without asking anybody. */
const watch = (runner: TaskRunner, type: string) => {
  const seen = new Map<string, Set<string>>()
  const waiting = new Set<() => void>()
  runner.subscribeByType(type, (update) => {
    if (update.kind !== 'status') return
    seen.set(update.taskId, (seen.get(update.taskId) ?? new Set()).add(update.status))
    for (const look of waiting) look()
  })
  const until = async (isSo: () => boolean): Promise<void> => {
    const reached = deferred()
    const look = (): void => {
      if (isSo()) reached.resolve()
    }
    waiting.add(look)
    look()
    await reached.promise
    waiting.delete(look)
  }
  const has = (taskId: string, isIt: (status: string) => boolean): boolean =>
    [...(seen.get(taskId) ?? [])].some((status) => isIt(status))
  return {
    ended: (...tasks: Task[]) =>
      until(() => tasks.every(({ id }) => has(id, (status) => isTerminalStatus(status as Task['status'])))),
    became: (status: string, count = 1) =>
      until(() => [...seen.keys()].filter((id) => has(id, (each) => each === status)).length >= count),
  }
}

const answered = async (stage: Stage, call: string, asking: Promise<Task>): Promise<Task> => {
  const task = await asking
  stage.log({ kind: 'told', call, taskId: task.id })
  return task
}

const was = (lines: readonly LogLine[], call: string): boolean =>
  lines.some((line) => line.kind === 'told' && line.call === call)

const rowsOf = ({ rows }: Outcome, type: string): Task[] =>
  rows.flatMap(({ task }) => (task.type === type ? [task] : []))

const statuses = (outcome: Outcome, type: string): string[] => rowsOf(outcome, type).map(({ status }) => status)

/** Each task that was made has succeeded, and there are as many as there should be if all calls had their effect. */
const allSucceeded =
  (counts: Record<string, number>): Scenario['check'] =>
  (outcome) => {
    for (const [type, count] of Object.entries(counts)) {
      expect(rowsOf(outcome, type).length).toBeLessThanOrEqual(count)
    }
    const others = outcome.rows.flatMap(({ task }) => (task.status === 'succeeded' ? [] : [task]))
    expect(others.map(({ type, status, error }) => [type, status, error])).toEqual([])
    // Nothing of a tree is missing.
    const roots = outcome.rows.filter(({ task }) => task.parentTaskId === undefined)
    if (roots.length > 0) {
      const made = Object.fromEntries(Object.keys(counts).map((type) => [type, rowsOf(outcome, type).length]))
      expect(made).toEqual(counts)
    }
  }

const submit: Scenario = {
  name: 'submit',
  handlers: doubling,
  play: async (stage) => {
    stage.work()
    const { ended } = watch(stage.runner, 'job')
    await ended(await answered(stage, 'submit', stage.runner.submit(JOB)))
  },
  check: (outcome) => {
    allSucceeded({ job: 1 })(outcome)
    for (const task of rowsOf(outcome, 'job')) expect(task.result).toBe(42)
  },
}

const submitWithKey: Scenario = {
  name: 'submit with an idempotency key',
  handlers: doubling,
  play: async (stage) => {
    stage.work()
    const { ended } = watch(stage.runner, 'job')
    const keyed = { ...JOB, idempotencyKey: 'k' }
    const first = await answered(stage, 'submit', stage.runner.submit(keyed))
    const second = await answered(stage, 'submit', stage.runner.submit(keyed))
    expect(second.id).toBe(first.id)
    await ended(first)
  },
  // Whoever got no answer asks again with the same key.
  again: async (stage) => {
    await answered(stage, 'submit', stage.runner.submit({ ...JOB, idempotencyKey: 'k' }))
  },
  check: (outcome) => {
    expect(statuses(outcome, 'job')).toEqual(['succeeded'])
    const told = new Set(outcome.log.flatMap((line) => (line.kind === 'told' ? [line.taskId] : [])))
    expect(told.size).toBe(1)
  },
}

const draftWithKey: Scenario = {
  name: 'draft and start under an idempotency key',
  handlers: doubling,
  play: async (stage) => {
    stage.work()
    const { ended } = watch(stage.runner, 'job')
    const keyed = { ...JOB, idempotencyKey: 'k' }
    const draft = await answered(stage, 'draft', stage.runner.draft(keyed))
    await answered(stage, 'start', stage.runner.start(draft.id))
    await ended(draft)
  },
  again: async (stage) => {
    await answered(stage, 'submit', stage.runner.submit({ ...JOB, idempotencyKey: 'k' }))
  },
  check: (outcome) => {
    expect(statuses(outcome, 'job')).toEqual(['succeeded'])
  },
}

const submitMany: Scenario = {
  name: 'submitMany',
  handlers: doubling,
  play: async (stage) => {
    stage.work(2)
    const { ended } = watch(stage.runner, 'job')
    const notBefore = new Date(Date.now() + 40)
    const tasks = await stage.runner.submitMany([JOB, JOB, { ...JOB, notBefore }])
    for (const { id: taskId } of tasks) stage.log({ kind: 'told', call: 'submitMany', taskId })
    await ended(...tasks)
  },
  check: (outcome) => {
    expect(statuses(outcome, 'job').filter((status) => status !== 'succeeded')).toEqual([])
    expect(outcome.rows.length).toBeLessThanOrEqual(3)
    if (was(outcome.log, 'submitMany')) expect(outcome.rows).toHaveLength(3)
  },
}

const draftAndStart: Scenario = {
  name: 'draft and start',
  handlers: doubling,
  play: async (stage) => {
    stage.work()
    const { ended } = watch(stage.runner, 'job')
    const draft = await answered(stage, 'draft', stage.runner.draft(JOB))
    await answered(stage, 'start', stage.runner.start(draft.id, { payload: 4 }))
    await ended(draft)
  },
  again: async (stage, told, rows) => {
    const [draft] = rows.flatMap(({ task }) => (task.status === 'draft' ? [task] : []))
    if (draft === undefined) return
    // A start that was answered has had its effect.
    expect(was(told, 'start')).toBe(false)
    await answered(stage, 'start', stage.runner.start(draft.id, { payload: 4 }))
  },
  check: (outcome) => {
    allSucceeded({ job: 1 })(outcome)
    for (const task of rowsOf(outcome, 'job')) expect(task.result).toBe(8)
  },
}

const delayed: Scenario = {
  name: 'submit with a delay',
  handlers: doubling,
  play: async (stage) => {
    stage.work()
    const { ended } = watch(stage.runner, 'job')
    const notBefore = new Date(Date.now() + 60)
    await ended(await answered(stage, 'submit', stage.runner.submit({ ...JOB, notBefore })))
  },
  check: (outcome) => {
    allSucceeded({ job: 1 })(outcome)
    for (const { attempts, notBefore = '' } of rowsOf(outcome, 'job')) {
      expect(Date.parse(attempts[0]?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(notBefore))
    }
  },
}

/** Children one after the other and beside each other, and a grandchild. */
const tree: Scenario = {
  name: 'spawn, await, and wake',
  handlers: (stage) => [
    handle(stage, 'job', async (ctx, n) => {
      const pair = await Promise.all([
        ctx.spawnChild<number, number>('child', n),
        ctx.spawnChild<number, number>('child', n),
      ])
      const [one, two] = await ctx.awaitChildren(pair)
      stage.log({ kind: 'did', taskId: ctx.taskId, what: 'between' })
      return one + two + (await ctx.spawnChildAndAwait<number, number>('middle', 1))
    }),
    handle(stage, 'child', double),
    handle(stage, 'middle', (ctx, n) => ctx.spawnChildAndAwait<number, number>('child', n)),
  ],
  play: async (stage) => {
    stage.work(3)
    const { ended } = watch(stage.runner, 'job')
    await ended(await answered(stage, 'submit', stage.runner.submit(JOB)))
  },
  check: (outcome) => {
    allSucceeded({ job: 1, child: 3, middle: 1 })(outcome)
    const [root] = rowsOf(outcome, 'job')
    if (root === undefined) return
    expect(root.result).toBe(86)
    // It waits twice, and is woken once for each wait.
    expect(root.attempts.filter(({ status }) => status === 'suspended').length).toBeLessThanOrEqual(2)
    // Past the first wait both children have been run, and neither is again.
    const between = outcome.log.findIndex((line) => line.kind === 'did' && line.what === 'between')
    const children = rowsOf(outcome, 'child').map(({ id }) => id)
    const runsOf = (lines: readonly LogLine[]): Set<string> =>
      new Set(lines.flatMap((line) => (line.kind === 'ran' && children.includes(line.taskId) ? [line.taskId] : [])))
    expect(between).toBeGreaterThan(-1)
    const pair = runsOf(outcome.log.slice(0, between))
    expect(pair.size).toBe(2)
    expect([...runsOf(outcome.log.slice(between))].filter((id) => pair.has(id))).toEqual([])
  },
}

/** Each failure and each retry of a task that never succeeds. */
const retry: Scenario = {
  name: 'retry with back-off',
  handlers: (stage) => [
    handle(
      stage,
      'job',
      () => {
        throw new Error('no')
      },
      { retryPolicy: { maxAttempts: 3, backoff: 'linear', baseDelayMs: 20, jitter: 0 } },
    ),
  ],
  play: async (stage) => {
    stage.work()
    const { ended } = watch(stage.runner, 'job')
    await ended(await answered(stage, 'submit', stage.runner.submit(JOB)))
  },
  check: (outcome) => {
    for (const { task, failures } of outcome.rows) {
      expect({ status: task.status, failures }).toEqual({ status: 'failed', failures: 3 })
      const failed = task.attempts.filter(({ status }) => status === 'failed')
      expect(failed).toHaveLength(3)
      // The runs in between belong to a process that died.
      expect(task.attempts.length - failed.length).toBeLessThanOrEqual(1)
    }
  },
}

/** What has succeeded before a failed attempt is not done again after it. */
const retriedParent: Scenario = {
  name: 'retry of a parent',
  handlers: (stage) => [
    handle(
      stage,
      'job',
      async (ctx, n) => {
        const value = await ctx.spawnChildAndAwait<number, number>('child', n)
        if (stage.isFirst && ctx.attempt === 2) throw new Error('once')
        return value
      },
      { retryPolicy: { maxAttempts: 2, backoff: 'none' } },
    ),
    handle(stage, 'child', double),
  ],
  play: async (stage) => {
    stage.work(2)
    const { ended } = watch(stage.runner, 'job')
    await ended(await answered(stage, 'submit', stage.runner.submit(JOB)))
  },
  check: allSucceeded({ job: 1, child: 1 }),
}

const cancelRunning: Scenario = {
  name: 'cancel of a running task',
  handlers: (stage) => [handle(stage, 'job', untilAborted)],
  play: async (stage) => {
    stage.work()
    const { ended, became } = watch(stage.runner, 'job')
    const task = await answered(stage, 'submit', stage.runner.submit(JOB))
    await became('running')
    await stage.runner.cancel(task.id, 'enough')
    stage.log({ kind: 'told', call: 'cancel', taskId: task.id })
    await ended(task)
  },
  again: async (stage, told, rows) => {
    if (was(told, 'cancel')) return
    for (const { task } of rows) await stage.runner.cancel(task.id, 'enough')
  },
  check: (outcome) => {
    for (const { task, cancelReason } of outcome.rows) {
      expect([task.status, cancelReason]).toEqual(['cancelled', 'enough'])
    }
  },
}

const family = (stage: HandlerStage): AnyTaskHandlerDescriptor[] => [
  handle(stage, 'job', async (ctx, n) => {
    const children = await Promise.all([1, 2, 3].map(() => ctx.spawnChild<number, number>('child', n)))
    return ctx.awaitChildren(children)
  }),
  handle(stage, 'child', untilAborted),
]

const cancelWaiting: Scenario = {
  name: 'cancel of a waiting parent',
  handlers: family,
  play: async (stage) => {
    // One child has to wait for a slot.
    stage.work(2)
    const { ended, became } = watch(stage.runner, 'job')
    const children = watch(stage.runner, 'child')
    const task = await answered(stage, 'submit', stage.runner.submit(JOB))
    await became('waiting')
    await children.became('running', 2)
    await stage.runner.cancel(task.id, 'enough')
    stage.log({ kind: 'told', call: 'cancel', taskId: task.id })
    await ended(task)
    await children.became('cancelled', 3)
  },
  again: async (stage, told, rows) => {
    if (was(told, 'cancel')) return
    const [root] = rows.filter(({ task }) => task.parentTaskId === undefined)
    if (root !== undefined) await stage.runner.cancel(root.task.id, 'enough')
  },
  check: (outcome) => {
    expect(outcome.rows.filter(({ task }) => task.status !== 'cancelled')).toEqual([])
    if (outcome.rows.length > 0) expect(rowsOf(outcome, 'child').length).toBeLessThanOrEqual(3)
  },
}

/** A parent that does not wait for its children. */
const leaveBehind: Scenario = {
  name: 'end of a parent with open children',
  handlers: (stage) => [
    handle(stage, 'job', async (ctx, n) => {
      await ctx.spawnChild('child', n)
      await ctx.spawnChild('child', n)
      return 'done'
    }),
    // Children that nobody came to cancel would never come to an end.
    handle(stage, 'child', untilAborted),
  ],
  play: async (stage) => {
    // One child runs, one waits for a slot.
    stage.work(2)
    const { ended } = watch(stage.runner, 'job')
    const children = watch(stage.runner, 'child')
    await ended(await answered(stage, 'submit', stage.runner.submit(JOB)))
    await children.became('cancelled', 2)
  },
  check: (outcome) => {
    if (outcome.rows.length === 0) return
    expect(statuses(outcome, 'job')).toEqual(['succeeded'])
    expect(statuses(outcome, 'child')).toEqual(['cancelled', 'cancelled'])
  },
}

const drain: Scenario = {
  name: 'hand back at the end of a process',
  handlers: (stage) => [handle(stage, 'job', (ctx, n) => (stage.isFirst ? untilAborted(ctx, n) : n * 2))],
  play: async (stage) => {
    stage.work(2)
    const { became } = watch(stage.runner, 'job')
    try {
      for (let count = 0; count < 3; count++) await answered(stage, 'submit', stage.runner.submit(JOB))
      await became('running', 2)
    } finally {
      await stage.dispose()
    }
  },
  endsProcess: true,
  check: (outcome) => {
    expect(outcome.rows.filter(({ task }) => task.status !== 'succeeded')).toEqual([])
    expect(outcome.rows.length).toBeLessThanOrEqual(3)
  },
}

/** A sleep that gives its slot back, and the steps around it. */
const parkedSleep: Scenario = {
  name: 'sleep that parks',
  handlers: (stage) => [
    handle(stage, 'job', async (ctx) => {
      const before = ctx.now().getTime()
      const chance = ctx.random()
      await ctx.sleep(80)
      stage.log({ kind: 'did', taskId: ctx.taskId, what: `woke ${String(before)} ${String(chance)}` })
      await ctx.sleep(1)
      return Date.now() - before
    }),
  ],
  play: async (stage) => {
    stage.work()
    const { ended } = watch(stage.runner, 'job')
    await ended(await answered(stage, 'submit', stage.runner.submit(JOB)))
  },
  check: (outcome) => {
    allSucceeded({ job: 1 })(outcome)
    for (const task of rowsOf(outcome, 'job')) expect(task.result).toBeGreaterThanOrEqual(79)
    // What was recorded before the sleep is the same in every run after it.
    const woken = outcome.log.flatMap((line) => (line.kind === 'did' ? [line.what] : []))
    expect(new Set(woken).size).toBeLessThanOrEqual(1)
  },
}

/** A call that is recorded, and progress. */
const recordedFetch: Scenario = {
  name: 'recorded fetch, and progress',
  handlers: (stage) => [
    handle(stage, 'job', async (ctx) => {
      const response = await ctx.fetch(`${stage.origin}/${ctx.taskId}`, {
        headers: { process: stage.isFirst ? 'first' : 'later' },
      })
      stage.log({ kind: 'did', taskId: ctx.taskId, what: 'fetched' })
      ctx.reportProgress({ percent: 50 })
      await ctx.heartbeat()
      const child = await ctx.spawnChildAndAwait<number, number>('child', 1)
      return (await response.text()).length + child
    }),
    handle(stage, 'child', double),
  ],
  play: async (stage) => {
    stage.work()
    const { ended } = watch(stage.runner, 'job')
    await ended(await answered(stage, 'submit', stage.runner.submit(JOB)))
  },
  check: (outcome) => {
    allSucceeded({ job: 1, child: 1 })(outcome)
    const lines = outcome.log.filter((line) => line.kind === 'did')
    const recordedAt = lines.findIndex((line) => line.what === 'fetched')
    const calls = lines.flatMap((line, index) => (line.what === 'called' ? [index] : []))
    // Made once, or once more by another process if the first one died before its record.
    expect(calls.length).toBeLessThanOrEqual(2)
    expect(calls.filter((index) => index > recordedAt && recordedAt !== -1)).toEqual([])
  },
}

/** A blob, which is known of before there is anything of it. */
const blob: Scenario = {
  name: 'blob of a task',
  handlers: (stage) => [
    handle(stage, 'job', async (ctx) => {
      // Of its own in each run, so that a later one cannot make good what an earlier one has left out.
      const key = `tasks/${ctx.taskId}/${String(ctx.attempt)}`
      const content = async function* (): AsyncGenerator<Buffer> {
        stage.log({ kind: 'did', taskId: ctx.taskId, what: `wrote ${key}` })
        // A moment to die in, with a blob that is half written.
        await ctx.heartbeat()
        yield Buffer.from('content')
      }
      return (await ctx.blobStore.put(key, Readable.from(content()))).key
    }),
  ],
  play: async (stage) => {
    stage.work()
    const { ended } = watch(stage.runner, 'job')
    await ended(await answered(stage, 'submit', stage.runner.submit(JOB)))
  },
  check: (outcome) => {
    allSucceeded({ job: 1 })(outcome)
    for (const { id, producedBlobs, result } of rowsOf(outcome, 'job')) {
      const known = producedBlobs.map(({ key }) => key)
      const written = outcome.log.flatMap((line) =>
        line.kind === 'did' && line.taskId === id && line.what.startsWith('wrote ') ? [line.what.slice(6)] : [],
      )
      expect(written).toContain(result)
      expect(known).toEqual(expect.arrayContaining(written))
    }
  },
}

const notNow: Scenario = {
  name: 'not now',
  handlers: (stage) => [
    handle(stage, 'job', (ctx, n) => (stage.isFirst && ctx.attempt === 1 ? ctx.notNow(20) : n * 2)),
  ],
  play: async (stage) => {
    stage.work()
    const { ended } = watch(stage.runner, 'job')
    await ended(await answered(stage, 'submit', stage.runner.submit(JOB)))
  },
  check: allSucceeded({ job: 1 }),
}

/** Everything that takes more than one step. */
export const SCENARIOS: readonly Scenario[] = [
  submit,
  submitWithKey,
  draftWithKey,
  submitMany,
  draftAndStart,
  delayed,
  tree,
  retry,
  retriedParent,
  cancelRunning,
  cancelWaiting,
  leaveBehind,
  drain,
  parkedSleep,
  recordedFetch,
  blob,
  notNow,
]
