import { setTimeout as delay } from 'node:timers/promises'

import { type AttemptOutcome, type BeginResult, type TaskStatus, type TaskStore } from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import { eachWithStore, type TaskStoreHarness } from './taskStore/eachWithStore.js'
import { newTask } from './taskStore/newTask.js'
import { taskStoreBlobSuite } from './taskStoreBlobSuite.js'
import { taskStoreFailureSuite } from './taskStoreFailureSuite.js'
import { taskStoreKeySuite } from './taskStoreKeySuite.js'
import { taskStoreRetentionSuite } from './taskStoreRetentionSuite.js'
import { taskStoreTreeSuite } from './taskStoreTreeSuite.js'

/** Short enough to wait for its end, long enough that nothing in a test outlasts it by accident. */
const LEASE_MS = 400
const LONG_MS = 60_000
const WORKER = 'worker-1'

const STATUSES = ['draft', 'pending', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled'] as const
type ReachableStatus = (typeof STATUSES)[number]
const TERMINAL = ['succeeded', 'failed', 'cancelled'] as const

export type { TaskStoreHarness }

/** What any store has to do, whatever it keeps its rows in. */
export const taskStoreSuite = (name: string, makeStore: () => Promise<TaskStoreHarness>): void => {
  taskStoreTreeSuite(name, makeStore)
  taskStoreFailureSuite(name, makeStore)
  taskStoreKeySuite(name, makeStore)
  taskStoreRetentionSuite(name, makeStore)
  taskStoreBlobSuite(name, makeStore)

  describe(`${name} as a task store`, () => {
    let store: TaskStore
    const { pass } = eachWithStore(makeStore, (made) => (store = made))

    const begin = (
      taskId: string,
      more: { redelivered?: boolean; ms?: number; workerId?: string; onlyIfDue?: boolean } = {},
    ) =>
      store.beginAttempt({
        taskId,
        workerId: more.workerId ?? WORKER,
        visibilityTimeoutMs: more.ms ?? LONG_MS,
        redelivered: more.redelivered ?? false,
        onlyIfDue: more.onlyIfDue ?? false,
      })

    const begun = async (taskId: string, ms = LONG_MS): Promise<BeginResult & { kind: 'begun' }> => {
      const result = await begin(taskId, { ms })
      if (result.kind !== 'begun') throw new Error(`not begun: ${JSON.stringify(result)}`)
      return result
    }

    const finish = (taskId: string, outcome: AttemptOutcome, more: { attempt?: number; workerId?: string } = {}) =>
      store.finishAttempt({
        taskId,
        attempt: more.attempt ?? 1,
        workerId: more.workerId ?? WORKER,
        startedAt: Date.now(),
        outcome,
      })

    const read = async (taskId: string) => {
      const stored = await store.get(taskId)
      if (stored === undefined) throw new Error(`no row ${taskId}`)
      return stored
    }

    const statusOf = async (taskId: string): Promise<TaskStatus> => (await read(taskId)).task.status

    /** A row that has come to a status on the ways that lead there; where it is running, its lease ends after `ms`. */
    const rowIn = async (status: ReachableStatus, ms = LONG_MS): Promise<string> => {
      const create = newTask({ status: status === 'draft' ? 'draft' : 'pending' })
      await store.create(create)
      if (status === 'draft' || status === 'pending') return create.id
      await begun(create.id, ms)
      if (status === 'running') return create.id
      if (status === 'succeeded') await finish(create.id, { kind: 'succeeded', resultJson: '"done"' })
      else if (status === 'failed') await finish(create.id, { kind: 'failed', error: { name: 'E', message: 'm' } })
      else await store.cancel({ taskId: create.id, reason: 'why' })
      if (status === 'cancelled') await finish(create.id, { kind: 'cancelled' })
      expect(await statusOf(create.id)).toBe(status)
      return create.id
    }

    const unqueued = async (): Promise<string[]> =>
      (await store.findUnqueued({ olderThanMs: 0, limit: 1_000 })).map(({ task }) => task.id)

    describe('create', () => {
      it('keeps everything that it was given', async () => {
        const { id: parent } = newTask()
        await store.create(newTask({ id: parent }))
        const create = newTask({
          status: 'draft',
          handlerVersion: 7,
          payloadJson: '{"to":"ä€😀","list":[1,null]}',
          notBefore: Date.UTC(2031, 0, 2),
          idempotencyKey: 'key',
          parentTaskId: parent,
          submittedBy: 'somebody',
          tags: ['eu', 'gpu'],
          retentionPolicy: { onSuccess: 'delete-all', onFailure: 'delete-all', ttlAfterTerminalDays: 0.5 },
        })
        const result = await store.create(create)
        expect(result).toMatchObject({ kind: 'created', taskId: create.id })
        const { task, failures, losses } = await read(create.id)
        expect(task).toMatchObject({
          id: create.id,
          type: 'mail',
          handlerVersion: 7,
          status: 'draft',
          payload: { to: 'ä€😀', list: [1, null] },
          notBefore: '2031-01-02T00:00:00.000Z',
          idempotencyKey: 'key',
          parentTaskId: parent,
          submittedBy: 'somebody',
          tags: ['eu', 'gpu'],
          retentionPolicy: create.retentionPolicy,
          childTaskIds: [],
          attempts: [],
          producedBlobs: [],
          consumedBlobs: [],
        })
        expect(task.events).toEqual([{ at: task.submittedAt, kind: 'submitted' }])
        expect(result.kind === 'created' && new Date(result.at).toISOString()).toBe(task.submittedAt)
        expect({ failures, losses }).toEqual({ failures: 0, losses: 0 })
        expect(task).not.toHaveProperty('result')
        expect(task).not.toHaveProperty('terminalAt')
      })

      it('keeps a payload of undefined', async () => {
        const { payloadJson: _, ...create } = newTask()
        await store.create(create)
        expect((await read(create.id)).task.payload).toBeUndefined()
      })

      it.each(STATUSES)('leaves a row alone that is %s already', async (status) => {
        const id = await rowIn(status)
        const before = await read(id)
        const result = await store.create(newTask({ id, type: 'other', payloadJson: '2' }))
        expect(result).toMatchObject({ kind: 'exists', stored: { task: { id, type: 'mail', status } } })
        expect(await read(id)).toEqual(before)
      })

      it('lets one of many racing writers create', async () => {
        const create = newTask()
        const results = await Promise.all(Array.from({ length: 20 }, () => store.create(create)))
        expect(results.filter(({ kind }) => kind === 'created')).toHaveLength(1)
        expect(results.filter(({ kind }) => kind === 'exists')).toHaveLength(19)
      })
    })

    describe('reading', () => {
      it('hands out copies that share nothing', async () => {
        const id = await rowIn('succeeded')
        const first = await read(id)
        const before = structuredClone({ ...first.task })
        first.task.attempts.length = 0
        first.task.events.length = 0
        first.task.tags.push('x')
        ;(first.task.payload as { n: number }).n = 2
        first.task.retentionPolicy.ttlAfterTerminalDays = 1
        expect({ ...(await read(id)).task }).toEqual(before)
      })

      it('answers many in the order of the ids, with gaps', async () => {
        const [a, b] = [await rowIn('draft'), await rowIn('pending')]
        const found = await store.getMany([b, 'nobody', a])
        expect(found.map((stored) => stored?.task.id)).toEqual([b, undefined, a])
        expect(await store.getMany([])).toEqual([])
        expect(await store.get('nobody')).toBeUndefined()
      })
    })

    describe('start', () => {
      it('makes a draft pending and keeps its payload', async () => {
        const id = await rowIn('draft')
        const result = await store.start({ taskId: id })
        expect(result).toMatchObject({ kind: 'started', stored: { task: { status: 'pending', payload: { n: 1 } } } })
        expect(await statusOf(id)).toBe('pending')
      })

      it('T61 makes it due now, unless its time is yet to come', async () => {
        const later = Date.UTC(2300, 0, 1)
        for (const notBefore of [undefined, 1, later]) {
          const draft = newTask({ status: 'draft', ...(notBefore !== undefined && { notBefore }) })
          await store.create(draft)
          const result = await store.start({ taskId: draft.id })
          if (result.kind !== 'started') throw new Error(result.kind)
          const due = new Date(notBefore === later ? later : result.at).toISOString()
          expect(result.stored.task.notBefore).toBe(due)
          expect((await read(draft.id)).task.notBefore).toBe(due)
        }
      })

      it('replaces the payload if one is given, also by undefined', async () => {
        const [a, b] = [await rowIn('draft'), await rowIn('draft')]
        await store.start({ taskId: a, payload: { json: '{"n":2}' } })
        await store.start({ taskId: b, payload: {} })
        expect((await read(a)).task.payload).toEqual({ n: 2 })
        expect((await read(b)).task.payload).toBeUndefined()
      })

      it.each(STATUSES.filter((status) => status !== 'draft'))('refuses a row that is %s', async (status) => {
        const id = await rowIn(status)
        const before = await read(id)
        expect(await store.start({ taskId: id, payload: {} })).toMatchObject({
          kind: 'refused',
          stored: { task: { id, status } },
        })
        expect(await read(id)).toEqual(before)
      })

      it('refuses an unknown row', async () => {
        const result = await store.start({ taskId: 'nobody' })
        expect(result.kind).toBe('refused')
        expect(result.stored).toBeUndefined()
      })

      it('lets one of two racing writers start', async () => {
        const id = await rowIn('draft')
        const results = await Promise.all([store.start({ taskId: id }), store.start({ taskId: id })])
        expect(results.map(({ kind }) => kind).sort()).toEqual(['refused', 'started'])
      })
    })

    describe('beginAttempt', () => {
      it('begins the first attempt of a pending row', async () => {
        const id = await rowIn('pending')
        const result = await begun(id)
        expect(result.attempt).toBe(1)
        const { task } = result.stored
        expect(task).toMatchObject({ status: 'running', workerId: WORKER, payload: { n: 1 } })
        expect(task.attempts).toEqual([
          { attempt: 1, workerId: WORKER, startedAt: new Date(result.at).toISOString(), status: 'in-progress' },
        ])
        expect(task.events.at(-1)).toMatchObject({ kind: 'claimed', workerId: WORKER })
        expect(Date.parse(task.visibilityDeadline ?? '')).toBe(result.at + LONG_MS)
        expect(await read(id)).toEqual(result.stored)
      })

      it.each(['draft', ...TERMINAL] as const)('calls a row stale that is %s', async (status) => {
        const id = await rowIn(status)
        const before = await read(id)
        for (const redelivered of [false, true]) {
          expect(await begin(id, { redelivered })).toMatchObject({ kind: 'refused', reason: 'stale', status })
        }
        expect(await read(id)).toEqual(before)
      })

      it('misses an unknown row', async () => {
        expect(await begin('nobody')).toMatchObject({ kind: 'refused', reason: 'missing' })
      })

      it.each(['running', 'cancelling'] as const)('respects the live lease of a row that is %s', async (status) => {
        const id = await rowIn(status)
        const before = await read(id)
        const result = await begin(id, { workerId: 'worker-2' })
        expect(result).toMatchObject({ kind: 'refused', reason: 'owned' })
        expect(result.kind === 'refused' && result.leaseUntil).toBe(Date.parse(before.task.visibilityDeadline ?? ''))
        expect(await read(id)).toEqual(before)
      })

      it('begins a row that is not due, unless told not to', async () => {
        const id = await rowIn('pending')
        await begun(id)
        await finish(id, { kind: 'released', delayMs: 60_000 })
        const due = (await read(id)).task.notBefore
        const refused = { kind: 'refused', reason: 'early', status: 'pending', dueAt: Date.parse(due ?? '') }
        expect(await begin(id, { onlyIfDue: true })).toEqual(refused)
        expect(await begin(id)).toMatchObject({ kind: 'begun', attempt: 2 })
      })

      it('takes a running row over when its lease is over', async () => {
        const id = await rowIn('running', LEASE_MS)
        await pass(LEASE_MS + 50)
        const result = await begin(id, { workerId: 'worker-2' })
        expect(result).toMatchObject({ kind: 'begun', attempt: 2, stored: { losses: 1, failures: 0 } })
        const { task } = await read(id)
        expect(task.attempts).toMatchObject([
          { attempt: 1, status: 'timed-out', workerId: WORKER },
          { attempt: 2, status: 'in-progress', workerId: 'worker-2' },
        ])
        expect(task.attempts[0]?.finishedAt).toBeDefined()
      })

      it('takes a running row over at once when the broker says that the claim ran out', async () => {
        const id = await rowIn('running')
        expect(await begin(id, { redelivered: true })).toMatchObject({
          kind: 'begun',
          attempt: 2,
          stored: { losses: 1 },
        })
      })

      it.each(['lease is over', 'broker says so'])('cancels a cancelling row without an owner: %s', async (how) => {
        const id = await rowIn('cancelling', LEASE_MS)
        if (how === 'lease is over') await pass(LEASE_MS + 50)
        const result = await begin(id, { redelivered: how !== 'lease is over' })
        expect(result).toMatchObject({
          kind: 'cancelled',
          stored: { task: { status: 'cancelled' }, cancelReason: 'why' },
        })
        const { task } = await read(id)
        expect(task.terminalAt).toBeDefined()
        expect(task.attempts.map(({ status }) => status)).not.toContain('in-progress')
      })

      it('lets one of many racing workers begin', async () => {
        const id = await rowIn('pending')
        const results = await Promise.all(
          Array.from({ length: 10 }, (_, index) => begin(id, { workerId: `worker-${index}` })),
        )
        expect(results.filter(({ kind }) => kind === 'begun')).toHaveLength(1)
        expect((await read(id)).task.attempts).toHaveLength(1)
      })
    })

    describe('finishAttempt', () => {
      it('succeeds with a result', async () => {
        const id = await rowIn('running')
        const result = await finish(id, { kind: 'succeeded', resultJson: '{"ok":true}' })
        expect(result).toMatchObject({ kind: 'finished', status: 'succeeded' })
        const { task } = await read(id)
        expect(task).toMatchObject({ status: 'succeeded', result: { ok: true }, workerId: WORKER })
        expect(task.terminalAt).toBe(result.kind === 'finished' && new Date(result.at).toISOString())
        expect(task.attempts).toMatchObject([{ attempt: 1, status: 'succeeded', finishedAt: task.terminalAt }])
        expect(task.visibilityDeadline).toBeUndefined()
      })

      it('succeeds without a result', async () => {
        const id = await rowIn('running')
        await finish(id, { kind: 'succeeded' })
        expect(await statusOf(id)).toBe('succeeded')
        expect((await read(id)).task.result).toBeUndefined()
      })

      it('fails for good, and keeps the stack in the attempt only', async () => {
        const id = await rowIn('running')
        const error = { name: 'TypeError', message: 'no', stack: 'at line 1' }
        expect(await finish(id, { kind: 'failed', error })).toMatchObject({ kind: 'finished', status: 'failed' })
        const { task, failures, losses } = await read(id)
        expect(task.error).toEqual({ name: 'TypeError', message: 'no' })
        expect(task.attempts).toMatchObject([{ status: 'failed', error }])
        expect(task.events.at(-1)).toMatchObject({ kind: 'attempt-failed', attempt: 1, willRetry: false })
        expect(task.terminalAt).toBeDefined()
        expect({ failures, losses }).toEqual({ failures: 1, losses: 0 })
      })

      it('fails to be run again at once', async () => {
        const id = await rowIn('running')
        const result = await finish(id, { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 0 })
        expect(result).toMatchObject({ kind: 'finished', status: 'pending' })
        expect(result).not.toHaveProperty('notBefore')
        const { task, failures } = await read(id)
        expect(failures).toBe(1)
        expect(task.status).toBe('pending')
        expect(task.notBefore).toBeUndefined()
        expect(task.workerId).toBeUndefined()
        expect(task.visibilityDeadline).toBeUndefined()
        expect(task.error).toBeUndefined()
        expect(task.events.at(-1)).toMatchObject({ kind: 'attempt-failed', attempt: 1, willRetry: true })
        expect(await begun(id)).toMatchObject({ attempt: 2, stored: { failures: 1 } })
      })

      it('fails to be run again later', async () => {
        const id = await rowIn('running')
        const result = await finish(id, { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 5_000 })
        if (result.kind !== 'finished') throw new Error('lost')
        expect(result.notBefore).toBe(result.at + 5_000)
        expect(Date.parse((await read(id)).task.notBefore ?? '')).toBe(result.notBefore)
      })

      it('ends as cancelled when the handler says so', async () => {
        const id = await rowIn('running')
        expect(await finish(id, { kind: 'cancelled' })).toMatchObject({ kind: 'finished', status: 'cancelled' })
        expect((await read(id)).task.attempts).toMatchObject([{ status: 'cancelled' }])
      })

      it('gives an attempt back without counting it', async () => {
        const id = await rowIn('running')
        expect(await finish(id, { kind: 'released' })).toMatchObject({ kind: 'finished', status: 'pending' })
        const { task, failures, losses } = await read(id)
        expect(task.attempts).toMatchObject([{ attempt: 1, status: 'released' }])
        expect({ failures, losses }).toEqual({ failures: 0, losses: 0 })
        await begun(id)
        const later = await finish(id, { kind: 'released', delayMs: 5_000 }, { attempt: 2 })
        expect(later).toMatchObject({ kind: 'finished', status: 'pending' })
        if (later.kind === 'finished') expect(later.notBefore).toBe(later.at + 5_000)
      })

      it.each<AttemptOutcome>([
        { kind: 'succeeded', resultJson: '1' },
        { kind: 'failed', error: { name: 'E', message: 'm' } },
        { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 0 },
        { kind: 'cancelled' },
        { kind: 'released' },
      ])('T24 lets a cancel win over %o', async (outcome) => {
        const id = await rowIn('cancelling')
        expect(await finish(id, outcome)).toMatchObject({ kind: 'finished', status: 'cancelled', cancelReason: 'why' })
        const { task } = await read(id)
        expect(task.status).toBe('cancelled')
        expect(task.result).toBeUndefined()
        expect(task.terminalAt).toBeDefined()
        expect(task.attempts.map(({ status }) => status)).not.toContain('in-progress')
      })

      it.each(['draft', 'pending', ...TERMINAL] as const)('T3 changes nothing in a row that is %s', async (status) => {
        const id = await rowIn(status)
        const before = await read(id)
        expect(await finish(id, { kind: 'succeeded', resultJson: '"late"' })).toMatchObject({ kind: 'lost', status })
        expect(await read(id)).toEqual(before)
      })

      it('loses an unknown row', async () => {
        expect(await finish('nobody', { kind: 'succeeded' })).toMatchObject({ kind: 'lost' })
      })

      it('T3 fences an attempt that has been overtaken', async () => {
        const id = await rowIn('running')
        await begin(id, { redelivered: true, workerId: 'worker-2' })
        const before = await read(id)
        expect(await finish(id, { kind: 'succeeded', resultJson: '"stale"' })).toMatchObject({ kind: 'lost' })
        expect(await read(id)).toEqual(before)
        expect(await finish(id, { kind: 'succeeded' }, { attempt: 2, workerId: 'worker-2' })).toMatchObject({
          kind: 'finished',
        })
      })

      it('lets one of two racing ends count', async () => {
        const id = await rowIn('running')
        const results = await Promise.all([
          finish(id, { kind: 'succeeded', resultJson: '1' }),
          finish(id, { kind: 'failed', error: { name: 'E', message: 'm' } }),
        ])
        expect(results.map(({ kind }) => kind).sort()).toEqual(['finished', 'lost'])
        const winner = results.find((result) => result.kind === 'finished')
        expect(await statusOf(id)).toBe(winner?.status)
      })

      it('T12 closes attempt and row in one write', async () => {
        const id = await rowIn('running')
        const seen: Array<[TaskStatus, string | undefined]> = []
        let isOver = false
        const watch = async (): Promise<void> => {
          while (!isOver) {
            const { task } = await read(id)
            seen.push([task.status, task.attempts.at(-1)?.status])
            await delay(0)
          }
        }
        const watching = watch()
        await finish(id, { kind: 'succeeded' })
        isOver = true
        await watching
        const { task } = await read(id)
        seen.push([task.status, task.attempts.at(-1)?.status])
        for (const [status, attempt] of seen) expect(attempt).toBe(status === 'running' ? 'in-progress' : 'succeeded')
      })
    })

    describe('extendAttempt', () => {
      const extend = (taskId: string, attempt = 1) =>
        store.extendAttempt({ taskId, attempt, visibilityTimeoutMs: LONG_MS })

      it('moves the end of the lease', async () => {
        const id = await rowIn('running', LEASE_MS)
        const result = await extend(id)
        expect(result).toMatchObject({ kind: 'extended', cancelling: false })
        const { visibilityDeadline = '' } = (await read(id)).task
        expect(result.kind === 'extended' && result.at + LONG_MS).toBe(Date.parse(visibilityDeadline))
        await pass(LEASE_MS + 50)
        expect(await store.expireAttempts({ limit: 10 })).toEqual([])
      })

      it('stores progress in the same write', async () => {
        const id = await rowIn('running')
        const progress = { percent: 12.5, metaJson: '{"step":"a"}' }
        const result = await store.extendAttempt({ taskId: id, attempt: 1, visibilityTimeoutMs: LONG_MS, progress })
        const { task } = await read(id)
        expect(task.progress).toEqual({
          percent: 12.5,
          meta: { step: 'a' },
          updatedAt: result.kind === 'extended' && new Date(result.at).toISOString(),
        })
        await store.extendAttempt({ taskId: id, attempt: 1, visibilityTimeoutMs: LONG_MS, progress: { percent: 20 } })
        expect((await read(id)).task.progress).toMatchObject({ percent: 20 })
        expect((await read(id)).task.progress?.meta).toBeUndefined()
      })

      it('T23 tells that a cancel has been asked for', async () => {
        const id = await rowIn('cancelling')
        expect(await extend(id)).toMatchObject({ kind: 'extended', cancelling: true, cancelReason: 'why' })
      })

      it.each(['draft', 'pending', ...TERMINAL] as const)('is lost on a row that is %s', async (status) => {
        const id = await rowIn(status)
        const before = await read(id)
        expect(await extend(id)).toEqual({ kind: 'lost' })
        expect(await read(id)).toEqual(before)
      })

      it('T8 is lost for an attempt that has been overtaken, progress and all', async () => {
        const id = await rowIn('running')
        await begin(id, { redelivered: true })
        const before = await read(id)
        const progress = { percent: 99 }
        expect(await store.extendAttempt({ taskId: id, attempt: 1, visibilityTimeoutMs: 1, progress })).toEqual({
          kind: 'lost',
        })
        expect(await read(id)).toEqual(before)
        expect(await extend('nobody')).toEqual({ kind: 'lost' })
      })
    })

    describe('cancel', () => {
      it.each(['draft', 'pending'] as const)('ends a row that is %s', async (status) => {
        const id = await rowIn(status)
        const result = await store.cancel({ taskId: id, reason: 'bored' })
        expect(result).toMatchObject({ kind: 'cancelled', stored: { task: { status: 'cancelled' } } })
        const { task, cancelReason } = await read(id)
        expect(cancelReason).toBe('bored')
        expect(task.terminalAt).toBeDefined()
        expect(task.events.at(-1)).toMatchObject({ kind: 'cancellation-requested', reason: 'bored' })
        expect(await begin(id)).toMatchObject({ kind: 'refused', reason: 'stale' })
      })

      it('T27 logs a request without a reason too', async () => {
        const id = await rowIn('pending')
        await store.cancel({ taskId: id })
        expect((await read(id)).task.events.at(-1)).toMatchObject({ kind: 'cancellation-requested' })
      })

      it('T22 asks the owner of a live lease to end a running row', async () => {
        const id = await rowIn('running')
        const result = await store.cancel({ taskId: id, reason: 'bored' })
        expect(result).toMatchObject({ kind: 'cancelling', stored: { task: { status: 'cancelling' } } })
        const { task } = await read(id)
        expect(task.attempts).toMatchObject([{ status: 'in-progress' }])
        expect(task.terminalAt).toBeUndefined()
      })

      it('ends a running row whose owner is gone', async () => {
        const id = await rowIn('running', LEASE_MS)
        await pass(LEASE_MS + 50)
        expect((await store.cancel({ taskId: id })).kind).toBe('cancelled')
        const { task } = await read(id)
        expect(task.status).toBe('cancelled')
        expect(task.attempts.map(({ status }) => status)).not.toContain('in-progress')
        expect(await store.expireAttempts({ limit: 10 })).toEqual([])
      })

      it.each(['cancelling', ...TERMINAL] as const)('T3 leaves a row alone that is %s', async (status) => {
        const id = await rowIn(status)
        const before = await read(id)
        expect(await store.cancel({ taskId: id, reason: 'again' })).toMatchObject({
          kind: 'unchanged',
          stored: { task: { id, status } },
        })
        expect(await read(id)).toEqual(before)
      })

      it('does not know an unknown row', async () => {
        expect(await store.cancel({ taskId: 'nobody' })).toEqual({ kind: 'unknown' })
      })

      it('T3 agrees with a racing end of the attempt', async () => {
        for (let round = 0; round < 10; round++) {
          const id = await rowIn('running')
          const [cancelled, finished] = await Promise.all([
            store.cancel({ taskId: id }),
            finish(id, { kind: 'succeeded' }),
          ])
          if (cancelled.kind === 'unchanged') expect(finished).toMatchObject({ kind: 'finished', status: 'succeeded' })
          else expect(finished).toMatchObject({ kind: 'finished', status: 'cancelled' })
          expect(await statusOf(id)).toBe(finished.status)
        }
      })

      it('agrees with a racing begin', async () => {
        for (let round = 0; round < 10; round++) {
          const id = await rowIn('pending')
          const [cancelled, started] = await Promise.all([store.cancel({ taskId: id }), begin(id)])
          expect(started.kind).toBe(cancelled.kind === 'cancelling' ? 'begun' : 'refused')
          expect(await statusOf(id)).toBe(cancelled.kind)
        }
      })
    })

    describe('the mark "not yet enqueued"', () => {
      it('T1 is on pending rows from their creation, until it is taken off', async () => {
        const [draft, pending, other] = [await rowIn('draft'), await rowIn('pending'), await rowIn('pending')]
        await pass(5)
        expect((await unqueued()).sort()).toEqual([pending, other].sort())
        await store.markEnqueued(pending, 0)
        expect(await unqueued()).toEqual([other])
        await store.start({ taskId: draft })
        await pass(5)
        expect(await unqueued()).toEqual([other, draft])
        await store.markEnqueued('nobody', 0)
      })

      it('goes with the pending status', async () => {
        const [begunId, cancelledId] = [await rowIn('pending'), await rowIn('pending')]
        await begun(begunId)
        await store.cancel({ taskId: cancelledId })
        await pass(5)
        expect(await unqueued()).toEqual([])
      })

      it.each<[string, AttemptOutcome]>([
        ['a retry', { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 0 }],
        ['a delayed retry', { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 10_000 }],
        ['a release', { kind: 'released' }],
      ])('is on again after %s', async (_, outcome) => {
        const id = await rowIn('pending')
        await store.markEnqueued(id, 0)
        await begun(id)
        await finish(id, outcome)
        await pass(5)
        expect(await unqueued()).toEqual([id])
        // Whoever queued it before its attempt comes late with the news.
        await store.markEnqueued(id, 0)
        expect(await unqueued()).toEqual([id])
        await store.markEnqueued(id, 1)
        expect(await unqueued()).toEqual([])
      })

      it('is found oldest first, up to a limit, and only if it is old enough', async () => {
        const ids: string[] = []
        for (let index = 0; index < 5; index++) {
          ids.push(await rowIn('pending'))
          await pass(5)
        }
        const found = await store.findUnqueued({ olderThanMs: 0, limit: 3 })
        expect(found.map(({ task }) => task.id)).toEqual(ids.slice(0, 3))
        expect(found[0]?.task).toMatchObject({ status: 'pending', type: 'mail', payload: { n: 1 } })
        expect(await store.findUnqueued({ olderThanMs: 60_000, limit: 10 })).toEqual([])
      })
    })

    describe('expireAttempts', () => {
      it('T7 leaves live leases and everything that is not running alone', async () => {
        for (const status of STATUSES) await rowIn(status)
        expect(await store.expireAttempts({ limit: 100 })).toEqual([])
      })

      it('makes running rows pending again and marks them', async () => {
        const id = await rowIn('running', LEASE_MS)
        await pass(LEASE_MS + 50)
        const expired = await store.expireAttempts({ limit: 100 })
        expect(expired).toMatchObject([{ task: { id, status: 'pending' }, losses: 1, failures: 0 }])
        const { task } = await read(id)
        expect(task.attempts).toMatchObject([{ attempt: 1, status: 'timed-out' }])
        expect(task.visibilityDeadline).toBeUndefined()
        await pass(5)
        expect(await unqueued()).toEqual([id])
        expect(await store.expireAttempts({ limit: 100 })).toEqual([])
        expect(await begun(id)).toMatchObject({ attempt: 2 })
      })

      it('T9 makes cancelling rows cancelled', async () => {
        const id = await rowIn('cancelling', LEASE_MS)
        await pass(LEASE_MS + 50)
        expect(await store.expireAttempts({ limit: 100 })).toMatchObject([
          { task: { id, status: 'cancelled' }, cancelReason: 'why' },
        ])
        const { task } = await read(id)
        expect(task.terminalAt).toBeDefined()
        expect(task.attempts.map(({ status }) => status)).not.toContain('in-progress')
      })

      it('keeps to its limit, oldest first', async () => {
        const ids: string[] = []
        for (let index = 0; index < 3; index++) {
          ids.push(await rowIn('running', LEASE_MS))
          await pass(5)
        }
        await pass(LEASE_MS + 50)
        const ended: string[] = []
        for (let page = 0; page < 3; page++) {
          const [first, ...more] = await store.expireAttempts({ limit: 1 })
          expect(more).toEqual([])
          if (first) ended.push(first.task.id)
        }
        expect(ended).toEqual(ids)
      })

      it('ends each lease once, whoever sweeps at the same time', async () => {
        const ids = await Promise.all(Array.from({ length: 20 }, () => rowIn('running', LEASE_MS)))
        await pass(LEASE_MS + 50)
        const pages = await Promise.all(Array.from({ length: 4 }, () => store.expireAttempts({ limit: 100 })))
        const ended = pages.flat().map(({ task }) => task.id)
        expect(ended.sort()).toEqual(ids.sort())
      })
    })

    it('T4 keeps every attempt and event of a long life', async () => {
      const id = await rowIn('pending')
      for (let attempt = 1; attempt <= 30; attempt++) {
        await begun(id)
        await finish(id, { kind: 'failed', error: { name: 'E', message: `${attempt}` }, retryDelayMs: 0 }, { attempt })
      }
      const { task, failures } = await read(id)
      expect(failures).toBe(30)
      expect(task.attempts.map(({ error }) => error?.message)).toEqual(Array.from({ length: 30 }, (_, i) => `${i + 1}`))
      expect(task.events).toHaveLength(61)
    })

    describe('lead', () => {
      it('gives a role to one holder at a time, who can keep it and give it back', async () => {
        const role = (holder: string, ttlMs = LONG_MS) => ({ role: 'tidy', holder, ttlMs })
        expect(await store.lead(role('a'))).toBe(true)
        expect(await store.lead(role('b'))).toBe(false)
        expect(await store.lead(role('a'))).toBe(true)
        expect(await store.lead({ ...role('b'), role: 'other' })).toBe(true)
        await store.resign(role('b'))
        expect(await store.lead(role('b'))).toBe(false)
        await store.resign(role('a'))
        await store.resign(role('a'))
        expect(await store.lead(role('b'))).toBe(true)
      })

      it('ends a role that is not kept', async () => {
        expect(await store.lead({ role: 'tidy', holder: 'a', ttlMs: LEASE_MS })).toBe(true)
        await pass(LEASE_MS + 10)
        expect(await store.lead({ role: 'tidy', holder: 'b', ttlMs: LEASE_MS })).toBe(true)
        expect(await store.lead({ role: 'tidy', holder: 'a', ttlMs: LEASE_MS })).toBe(false)
      })
    })
  })
}
