import { setTimeout as delay } from 'node:timers/promises'

import { defineTaskHandler, isTerminalStatus, TaskCancelledError, type TaskUpdate } from '@furystack/task-runner'
import { lastValueFrom, tap, toArray } from 'rxjs'
import { describe, expect, it } from 'vitest'

import { deferred, type Deferred } from '../support/deferred.js'
import { uniquePrefix } from '../support/redis.js'
import { startService } from '../support/service.js'
import { startSubmitterProcess } from '../support/submitterProcess.js'
import { until } from '../support/until.js'
import { startWatcherProcess } from '../support/watcherProcess.js'
import { startWorkerProcess } from '../support/workerProcess.js'

/** A handler that tells its progress when it is let go on, and ends when it is cancelled or told to. */
const steered = (gates: readonly Deferred<void>[], aborted?: Deferred<unknown>) =>
  defineTaskHandler({
    type: 'steered',
    version: 1,
    progressThrottleMs: 0,
    handler: async (ctx, _payload: null) => {
      ctx.cancellationSignal.addEventListener('abort', () => aborted?.resolve(ctx.cancellationSignal.reason))
      for (const [index, gate] of gates.entries()) {
        await Promise.race([gate.promise, ...(aborted ? [aborted.promise] : [])])
        ctx.cancellationSignal.throwIfAborted()
        ctx.reportProgress({ percent: (index + 1) * 10 })
      }
      return 'done'
    },
  })

const submission = { type: 'steered', handlerVersion: 1, payload: null }

/** Polls of the watches, heartbeats and the like would tell too, but take longer than any of this. */
const QUIET = { visibilityTimeoutMs: 60_000 }

describe('services that share a bus', () => {
  it('see each status and each progress of a task that runs elsewhere', async () => {
    const prefix = uniquePrefix('live')
    const [here, there] = await Promise.all([
      startService({ prefix, hasBus: true, ...QUIET }),
      startService({ prefix, hasBus: true, ...QUIET }),
    ])
    const gates = [deferred(), deferred(), deferred()]
    const { id } = await here.runner.submit(submission)
    const heard: TaskUpdate[] = []
    const shown = deferred()
    const updates = lastValueFrom(
      here.runner.updates$(id).pipe(
        tap(() => shown.resolve()),
        toArray(),
      ),
      { defaultValue: [] },
    )
    using _ = here.runner.subscribeByType('steered', (update) => heard.push(update))
    const result = here.runner.waitFor(id)

    await shown.promise
    there.work([steered(gates)])
    await until(() => heard.some((update) => update.kind === 'status' && update.status === 'running'))
    for (const [index, gate] of gates.entries()) {
      gate.resolve()
      await until(() => heard.some((update) => update.kind === 'progress' && update.percent === (index + 1) * 10))
    }

    expect(await result).toBe('done')
    const told = (await updates).map((update) =>
      update.kind === 'status' ? update.status : update.kind === 'progress' ? update.percent : update.kind,
    )
    expect(told).toEqual(['pending', 'claimed', 'running', 10, 20, 30, 'succeeded'])
    expect([here.troubles, there.troubles]).toEqual([[], []])
  })

  it('cancel tasks that run elsewhere, and learn of it, at once', async () => {
    const prefix = uniquePrefix('live')
    const [here, there] = await Promise.all([
      startService({ prefix, hasBus: true, ...QUIET }),
      startService({ prefix, hasBus: true, ...QUIET }),
    ])
    const aborted = deferred<unknown>()
    const { id } = await here.runner.submit(submission)
    const result = here.runner.waitFor(id)
    const refused = expect(result).rejects.toThrow(TaskCancelledError)
    there.work([steered([deferred()], aborted)])
    await until(async () => (await here.runner.get(id))?.status === 'running')

    await here.runner.cancel(id, 'no longer wanted')

    // Heartbeats, which would tell as well, are 20 seconds apart.
    await Promise.race([aborted.promise, delay(5_000).then(() => expect.unreachable('the handler was not told'))])
    await refused
  })

  it('work across processes: submitted here, run by one process, watched and cancelled by a third', async () => {
    const prefix = uniquePrefix('live')
    const [here, watcher, worker] = await Promise.all([
      startService({ prefix, hasBus: true, ...QUIET }),
      startService({ prefix, hasBus: true, ...QUIET }),
      startWorkerProcess({ prefix, concurrency: 1, hasBus: true, options: QUIET }),
    ])
    const { id } = await here.runner.submit({ type: 'sleep', handlerVersion: 1, payload: 60_000 })
    const updates = lastValueFrom(watcher.runner.updates$(id).pipe(toArray()), { defaultValue: [] })
    await until(() => worker.starts.length === 1)

    await watcher.runner.cancel(id)

    await expect(here.runner.waitFor(id, { timeoutMs: 10_000 })).rejects.toThrow(TaskCancelledError)
    const last = (await updates).at(-1)
    expect(last).toMatchObject({ kind: 'status', status: 'cancelled' })
    // The slot is free again long before the task would have ended.
    const next = await here.runner.submit({ type: 'double', handlerVersion: 1, payload: 21 })
    expect(await here.runner.waitFor(next.id, { timeoutMs: 10_000 })).toBe(42)
  })

  it('work across three processes: submitted in one, run in another, watched and cancelled from a third', async () => {
    const prefix = uniquePrefix('live')
    const [submitter, watcher] = await Promise.all([
      startSubmitterProcess(prefix, { hasBus: true }),
      startWatcherProcess(prefix, QUIET),
    ])
    const submission = { type: 'report', handlerVersion: 1, payload: [25, 75] }
    const [{ id } = { id: '' }] = await submitter.submit({ how: 'submit', options: submission, times: 1 })
    const over = watcher.watch(id)
    // Only then a worker: the watcher sees all of the way.
    await until(() => watcher.updates.length === 1)
    const worker = await startWorkerProcess({ prefix, concurrency: 1, hasBus: true, options: QUIET })
    await until(() => watcher.updates.some((update) => update.kind === 'progress' && update.percent === 75))
    expect(worker.signals).toEqual([])

    await watcher.cancel(id, 'no longer wanted')

    // Heartbeats and polls, which would tell as well, are further apart than `until` waits.
    await until(() => worker.signals.length === 1)
    await over
    expect(worker.starts).toEqual([{ taskId: id, type: 'report' }])
    expect(worker.signals).toEqual([{ taskId: id, name: 'TaskCancelledError', reason: 'no longer wanted' }])
    expect(new Set(watcher.updates.map(({ taskId }) => taskId))).toEqual(new Set([id]))
    // Status and progress have topics of their own, each with its order.
    const percents = watcher.updates.flatMap((update) => (update.kind === 'progress' ? [update.percent] : []))
    expect(percents).toEqual([25, 75])
    const statuses = watcher.updates.flatMap((update) => (update.kind === 'status' ? [update.status] : []))
    expect(statuses).toEqual(['pending', 'claimed', 'running', 'cancelling', 'cancelled'])
    expect(watcher.updates.at(-1)).toMatchObject({ kind: 'status', status: 'cancelled', reason: 'no longer wanted' })
    expect(new Set([process.pid, submitter.pid, worker.child.pid, watcher.pid]).size).toBe(4)
  }, 60_000)

  it('hear nothing of a service with another prefix', async () => {
    const [here, other] = await Promise.all([
      startService({ hasBus: true, ...QUIET }),
      startService({ hasBus: true, ...QUIET }),
    ])
    const heard: TaskUpdate[] = []
    using _ = here.runner.subscribeByType('steered', (update) => heard.push(update))
    other.work([steered([])])
    here.work([steered([])])

    const theirs = await other.runner.submit(submission)
    await other.runner.waitFor(theirs.id)
    const ours = await here.runner.submit(submission)
    await here.runner.waitFor(ours.id)
    await until(() => heard.some((update) => update.kind === 'status' && isTerminalStatus(update.status)))

    expect(new Set(heard.map(({ taskId }) => taskId))).toEqual(new Set([ours.id]))
  })
})
