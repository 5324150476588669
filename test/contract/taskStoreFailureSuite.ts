import { randomUUID } from 'node:crypto'

import {
  DEFAULT_RETENTION_POLICY,
  MaxDeliveriesExceededError,
  TaskExpiredError,
  type AttemptOutcome,
  type BeginResult,
  type CreateTask,
  type DeadLetter,
  type DeadLetterPosition,
  type DeadLetterQuery,
  type TaskStore,
} from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import { eachWithStore, type TaskStoreHarness } from './taskStore/eachWithStore.js'
import { newTask } from './taskStore/newTask.js'

const WORKER = 'worker-1'
const LEASE_MS = 400

/** What any store has to do about tasks that fail without being run (again). */
export const taskStoreFailureSuite = (name: string, makeStore: () => Promise<TaskStoreHarness>): void => {
  describe(`${name} as a store of failed tasks`, () => {
    let store: TaskStore
    const { pass } = eachWithStore(makeStore, (made) => (store = made))

    const create = async (more: Partial<CreateTask> = {}): Promise<string> => {
      const input = newTask(more)
      await store.create(input)
      return input.id
    }

    interface Begin {
      redelivered?: boolean
      ms?: number
      maxDeliveries?: number
    }

    const begin = (taskId: string, { redelivered = false, ms = 60_000, maxDeliveries }: Begin = {}) =>
      store.beginAttempt({
        taskId,
        workerId: WORKER,
        visibilityTimeoutMs: ms,
        redelivered,
        ...(maxDeliveries !== undefined && { maxDeliveries }),
      })

    const finish = (taskId: string, attempt: number, outcome: AttemptOutcome) =>
      store.finishAttempt({ taskId, attempt, workerId: WORKER, startedAt: Date.now(), outcome })

    const read = async (taskId: string) => {
      const stored = await store.get(taskId)
      if (stored === undefined) throw new Error(`no row ${taskId}`)
      return stored
    }

    const unqueued = async (): Promise<string[]> =>
      (await store.findUnqueued({ olderThanMs: 0, limit: 100 })).map(({ task }) => task.id)

    /** The store's clock. */
    const storeNow = async (): Promise<number> => {
      const id = await create({ status: 'draft' })
      return Date.parse((await read(id)).task.submittedAt)
    }

    /** A task whose time to start is over in a moment. */
    const createWithin = async (ms: number, more: Partial<CreateTask> = {}): Promise<string> =>
      create({ startBefore: (await storeNow()) + ms, ...more })

    const expire = async (limit = 100): Promise<string[]> =>
      (await store.expireTasks({ limit })).map(({ stored }) => stored.task.id)

    describe('a task with a time to start', () => {
      it('tells it, and is begun before it', async () => {
        const startBefore = (await storeNow()) + 60_000
        const id = await create({ startBefore })
        expect((await read(id)).task.startBefore).toBe(new Date(startBefore).toISOString())
        expect(await begin(id)).toMatchObject({ kind: 'begun', attempt: 1 })
        expect(await expire()).toEqual([])
      })

      it('T57 fails instead of being begun when it is over', async () => {
        const id = await createWithin(0)
        const failed = (await begin(id)) as BeginResult & { kind: 'failed' }
        const error = { name: 'TaskExpiredError', message: new TaskExpiredError(id).message }
        expect(failed).toMatchObject({
          kind: 'failed',
          stored: { task: { id, status: 'failed', error, attempts: [] } },
        })
        const { task } = await read(id)
        expect(task).toMatchObject({ status: 'failed', error, attempts: [] })
        expect(task.terminalAt).toBe(new Date(failed.at).toISOString())
        expect(await begin(id)).toMatchObject({ kind: 'refused', reason: 'stale' })
        expect(await expire()).toEqual([])
        expect(await unqueued()).toEqual([])
      })

      it('fails when somebody looks and no worker has come', async () => {
        const now = await storeNow()
        const late = await create({ startBefore: now + 5 })
        const later = await create({ startBefore: now + 1, notBefore: now })
        const early = await create({ startBefore: now + 60_000 })
        await create()
        await pass(20)
        const failed = await store.expireTasks({ limit: 100 })
        const error = { name: 'TaskExpiredError', message: new TaskExpiredError(late).message }
        expect(failed).toMatchObject([{ stored: { task: { id: later } } }, { stored: { task: { id: late, error } } }])
        for (const { stored, at } of failed) {
          const { task } = await read(stored.task.id)
          expect(task).toMatchObject({ status: 'failed', attempts: [], terminalAt: new Date(at).toISOString() })
        }
        expect((await read(early)).task.status).toBe('pending')
        expect(await expire()).toEqual([])
        expect(await unqueued()).not.toContain(late)
      })

      it('fails once, whoever looks at the same time, and in pages', async () => {
        const ids = await Promise.all(Array.from({ length: 5 }, () => createWithin(0)))
        const pages = await Promise.all([expire(2), expire(2), expire(2), begin(ids[0]!).then(() => [])])
        const rest = await expire()
        const told = [...pages.flat(), ...rest]
        expect(new Set(told).size).toBe(told.length)
        expect(pages.every((page) => page.length <= 2)).toBe(true)
        for (const id of ids) expect((await read(id)).task.status).toBe('failed')
      })

      it.each<AttemptOutcome>([
        { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 0 },
        { kind: 'released' },
        { kind: 'parked', delayMs: 0 },
        { kind: 'suspended', awaiting: [] },
      ])('may take its time after an attempt that is $kind', async (outcome) => {
        const id = await createWithin(LEASE_MS)
        await begin(id)
        await finish(id, 1, outcome)
        await pass(LEASE_MS + 50)
        expect(await expire()).toEqual([])
        expect(await begin(id)).toMatchObject({ kind: 'begun', attempt: 2 })
      })

      it('may take its time after an attempt that was lost', async () => {
        const id = await createWithin(LEASE_MS)
        await begin(id, { ms: LEASE_MS / 2 })
        await pass(LEASE_MS + 50)
        expect(await expire()).toEqual([])
        expect(await begin(id)).toMatchObject({ kind: 'begun', attempt: 2 })
      })

      it('has not been begun by an attempt that never reached a handler', async () => {
        const ids = [await createWithin(LEASE_MS), await createWithin(LEASE_MS)]
        for (const id of ids) {
          await begin(id)
          await finish(id, 1, { kind: 'released', unstarted: true })
          await begin(id)
          await finish(id, 2, { kind: 'released', unstarted: true })
        }
        expect(await expire()).toEqual([])
        await pass(LEASE_MS + 50)
        expect(await begin(ids[0]!)).toMatchObject({ kind: 'failed' })
        expect(await expire()).toEqual([ids[1]])
      })

      it('is looked at once it is no draft any more, and no longer once it is cancelled', async () => {
        const draft = await createWithin(0, { status: 'draft' })
        const cancelled = await createWithin(0)
        await store.cancel({ taskId: cancelled })
        expect(await expire()).toEqual([])
        await store.start({ taskId: draft })
        expect(await expire()).toEqual([draft])
      })

      it('T57 tells its parent, and wakes one that waits for it', async () => {
        const parentId = await create({ type: 'report' })
        await begin(parentId)
        const child: CreateTask = {
          id: randomUUID(),
          type: 'page',
          handlerVersion: 1,
          status: 'pending',
          tags: [],
          parentTaskId: parentId,
          startBefore: await storeNow(),
          retentionPolicy: DEFAULT_RETENTION_POLICY,
        }
        await store.spawnChild({ parentId, attempt: 1, step: { key: 'spawn', json: '{}' }, child })
        await finish(parentId, 1, { kind: 'suspended', awaiting: [child.id] })
        const failed = await store.expireTasks({ limit: 10 })
        expect(failed).toMatchObject([{ parent: { taskId: parentId, type: 'report', woken: true } }])
        expect((await read(parentId)).task.status).toBe('pending')
      })
    })

    const fail = async (taskId: string, attempt = 1): Promise<void> => {
      await begin(taskId)
      await finish(taskId, attempt, {
        kind: 'failed',
        error: { name: 'E', message: `attempt ${attempt}`, stack: 'at' },
      })
    }

    /** A task that has failed; the store's clock moves on with it, so that no two have failed at the same time. */
    const failed = async (more: Partial<CreateTask> = {}): Promise<string> => {
      const id = await create(more)
      await pass(2)
      await fail(id)
      return id
    }

    /** All pages, one letter after the other. */
    const listAll = async (query: Partial<DeadLetterQuery> = {}): Promise<DeadLetter[]> => {
      const letters: DeadLetter[] = []
      let after: DeadLetterPosition | undefined
      do {
        const batch = await store.deadLetters.list({ order: 'oldest', limit: 2, ...query, ...(after && { after }) })
        letters.push(...batch.letters)
        after = batch.next
      } while (after !== undefined)
      return letters
    }

    const listed = async (query: Partial<DeadLetterQuery> = {}) => (await listAll(query)).map(({ id }) => id)

    const resend = (id: string, fromScratch = false) => store.deadLetters.resend({ id, fromScratch })

    describe('dead letters', () => {
      it('are the tasks that have failed, with what they failed of, and nothing else', async () => {
        const [mail, post] = [await failed(), await failed({ type: 'post', tags: ['gpu'], payloadJson: '"x"' })]
        const late = await createWithin(0)
        await pass(2)
        await store.expireTasks({ limit: 1 })
        await pass(2)
        const lost = await create()
        await begin(lost)
        await begin(lost, { redelivered: true, maxDeliveries: 1 })
        const done = await create()
        await begin(done)
        await finish(done, 1, { kind: 'succeeded' })
        const cancelled = await create()
        await store.cancel({ taskId: cancelled })
        const again = await create()
        await begin(again)
        await finish(again, 1, { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 0 })

        const letters = await listAll()
        expect(letters.map(({ id, reason, type }) => [id, reason, type])).toEqual([
          [mail, 'failed', 'mail'],
          [post, 'failed', 'post'],
          [late, 'expired', 'mail'],
          [lost, 'lost', 'mail'],
        ])
        for (const letter of letters) {
          const { task } = await read(letter.id)
          expect(letter).toEqual({ ...letter, kind: 'task', at: task.terminalAt, task })
          expect(await store.deadLetters.get(letter.id)).toEqual(letter)
        }
        expect((letters[1] as DeadLetter & { kind: 'task' }).task).toMatchObject({
          payload: 'x',
          tags: ['gpu'],
          error: { name: 'E', message: 'attempt 1' },
          attempts: [{ status: 'failed', error: { stack: 'at' } }],
        })
        for (const id of [done, cancelled, again, 'nobody', '1-1']) {
          expect(await store.deadLetters.get(id)).toBeUndefined()
        }
        expect(await store.deadLetters.count({})).toBe(4)
        expect(await store.deadLetters.count({ type: 'mail' })).toBe(3)
        expect(await store.deadLetters.count({ type: 'nothing' })).toBe(0)
      })

      it('are listed by type and reason, from either end, up to a time', async () => {
        const types = ['mail', 'a:b|c%d', 'mail', '__proto__', 'mail']
        const ids: string[] = []
        for (const type of types) ids.push(await failed({ type }))
        expect(await listed({ order: 'newest' })).toEqual([...ids].reverse())
        expect(await listed({ type: 'mail' })).toEqual([ids[0], ids[2], ids[4]])
        expect(await listed({ type: 'a:b|c%d' })).toEqual([ids[1]])
        expect(await listed({ type: '__proto__', order: 'newest' })).toEqual([ids[3]])
        expect(await listed({ reason: 'lost' })).toEqual([])
        expect(await listed({ reason: 'failed', limit: 1 })).toEqual(ids)
        const until = Date.parse((await read(ids[2]!)).task.terminalAt!)
        expect(await listed({ until })).toEqual(ids.slice(0, 3))
        expect(await listed({ until, order: 'newest' })).toEqual(ids.slice(0, 3).reverse())
        expect(await listed({ until: until - 1, order: 'newest', type: 'mail' })).toEqual([ids[0]])
      })

      it.each(['newest', 'oldest'] as const)(
        'page on from the %s, whatever comes and goes in between',
        async (order) => {
          const ids: string[] = []
          for (let index = 0; index < 6; index++) ids.push(await failed())
          const expected = order === 'newest' ? [...ids].reverse() : ids
          const first = await store.deadLetters.list({ order, limit: 2 })
          expect(first.letters.map(({ id }) => id)).toEqual(expected.slice(0, 2))
          // What the page ended with goes, and comes again at another place; what was to come next goes for good.
          await resend(expected[1]!)
          await pass(2)
          await fail(expected[1]!, 2)
          await store.deadLetters.discard(expected[2]!)
          const next = await store.deadLetters.list({ order, limit: 2, after: first.next! })
          expect(next.letters.map(({ id }) => id)).toEqual(expected.slice(3, 5))
          const last = await store.deadLetters.list({ order, limit: 10, after: next.next! })
          const tail = order === 'newest' ? [] : [expected[1]]
          expect(last.letters.map(({ id }) => id)).toEqual([...expected.slice(5), ...tail])
          expect(last.next).toBeUndefined()
        },
      )

      it('of one millisecond are all listed once', async () => {
        const now = await storeNow()
        const ids = await Promise.all(Array.from({ length: 25 }, () => create({ startBefore: now })))
        await pass(2)
        await store.expireTasks({ limit: 100 })
        for (const order of ['newest', 'oldest'] as const) {
          const found = await listed({ order, limit: 3 })
          expect(found).toHaveLength(25)
          expect(new Set(found)).toEqual(new Set(ids))
        }
      })
    })

    describe('to send one again', () => {
      it('makes it as new, but for what it has been through', async () => {
        const id = await create({ startBefore: (await storeNow()) + 60_000, notBefore: 1, payloadJson: '"p"' })
        await begin(id)
        await store.recordStep({ taskId: id, attempt: 1, step: { key: 'now#0~0', json: '1' } })
        await finish(id, 1, { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 0 })
        await begin(id)
        await begin(id, { redelivered: true })
        await finish(id, 3, { kind: 'failed', error: { name: 'E', message: 'm' } })
        const before = await read(id)
        expect(before).toMatchObject({ failures: 2, losses: 1 })

        const result = await resend(id)
        expect(result).toMatchObject({
          kind: 'resent',
          letter: { id, reason: 'failed', task: { error: { name: 'E' } } },
        })
        const { task, failures, losses, generation } = await read(id)
        expect({ failures, losses }).toEqual({ failures: 0, losses: 0 })
        expect(generation).toBeGreaterThan(2)
        expect(task).toMatchObject({ status: 'pending', payload: 'p', attempts: before.task.attempts })
        for (const member of ['error', 'terminalAt', 'startBefore', 'workerId', 'result'] as const) {
          expect(task[member]).toBeUndefined()
        }
        const at = new Date(result.kind === 'resent' ? result.at : 0).toISOString()
        expect(task.notBefore).toBe(at)
        expect(task.events).toContainEqual({ at, kind: 'resent', reason: 'failed', attempts: 3 })
        expect(task.events.filter(({ kind }) => kind === 'attempt-failed')).toMatchObject([
          { attempt: 1, willRetry: true },
          { attempt: 3, willRetry: false },
        ])
        expect(await store.readSteps(id)).toHaveLength(1)
        await pass(5)
        expect(await unqueued()).toEqual([id])
        expect(await store.deadLetters.count({})).toBe(0)
        expect(await listed()).toEqual([])

        expect(await begin(id, { maxDeliveries: 1 })).toMatchObject({
          kind: 'begun',
          attempt: 4,
          stored: { failures: 0 },
        })
        await finish(id, 4, { kind: 'succeeded', resultJson: '7' })
        expect((await read(id)).task).toMatchObject({ status: 'succeeded', result: 7 })
      })

      it('happens once, whoever asks for it at the same time', async () => {
        const id = await failed()
        const results = await Promise.all(Array.from({ length: 10 }, () => resend(id)))
        expect(results.filter(({ kind }) => kind === 'resent')).toHaveLength(1)
        expect(results.filter(({ kind }) => kind === 'stale')).toHaveLength(9)
        const { task } = await read(id)
        expect(task.events.filter(({ kind }) => kind === 'resent')).toHaveLength(1)
      })

      it('may be done as often as it fails, and gives it all its deliveries again', async () => {
        const id = await create()
        for (let attempt = 1; attempt <= 5; attempt += 2) {
          expect(await begin(id, { maxDeliveries: 2 })).toMatchObject({ kind: 'begun', attempt })
          expect(await begin(id, { redelivered: true, maxDeliveries: 2 })).toMatchObject({ kind: 'begun' })
          expect(await begin(id, { redelivered: true, maxDeliveries: 2 })).toMatchObject({ kind: 'failed' })
          expect(await resend(id)).toMatchObject({ kind: 'resent', letter: { reason: 'lost' } })
        }
        expect((await read(id)).task.events.filter(({ kind }) => kind === 'resent')).toMatchObject([
          { reason: 'lost', attempts: 2 },
          { reason: 'lost', attempts: 4 },
          { reason: 'lost', attempts: 6 },
        ])
      })

      it('lets a task that expired take its time', async () => {
        const id = await createWithin(0)
        await store.expireTasks({ limit: 10 })
        expect(await resend(id)).toMatchObject({ kind: 'resent', letter: { reason: 'expired' } })
        expect(await expire()).toEqual([])
        expect(await begin(id)).toMatchObject({ kind: 'begun', attempt: 1 })
      })

      it('forgets what was recorded if it is to begin from scratch', async () => {
        const id = await create()
        await begin(id)
        await store.recordStep({ taskId: id, attempt: 1, step: { key: 'now#0~0', json: '1' } })
        await finish(id, 1, { kind: 'failed', error: { name: 'E', message: 'm' } })
        await resend(id, true)
        expect(await store.readSteps(id)).toEqual([])
        expect((await read(id)).hasSteps).toBeUndefined()
      })

      it.each(['draft', 'pending', 'running', 'succeeded', 'cancelled'] as const)(
        'leaves alone what is %s',
        async (is) => {
          const id = await create({ status: is === 'draft' ? 'draft' : 'pending' })
          if (is === 'running' || is === 'succeeded') await begin(id)
          if (is === 'succeeded') await finish(id, 1, { kind: 'succeeded' })
          if (is === 'cancelled') await store.cancel({ taskId: id })
          const before = await read(id)
          expect(await resend(id)).toEqual({ kind: 'stale', status: is })
          expect(await store.deadLetters.discard(id)).toBe(false)
          expect(await read(id)).toEqual(before)
        },
      )

      it('misses what is not there', async () => {
        expect(await resend('nobody')).toEqual({ kind: 'missing' })
        expect(await resend('1-1')).toEqual({ kind: 'missing' })
        expect(await store.deadLetters.discard('nobody')).toBe(false)
      })

      it('counts a child as open again while its parent runs, and tells the parent of its new end', async () => {
        const parentId = await create({ type: 'report' })
        await begin(parentId)
        const child = await create({ type: 'page', parentTaskId: parentId })
        await fail(child)
        expect((await read(parentId)).openChildren ?? 0).toBe(0)
        expect(await resend(child)).toMatchObject({ kind: 'resent' })
        expect((await read(parentId)).openChildren).toBe(1)
        await begin(child)
        await finish(child, 2, { kind: 'succeeded' })
        const { task, openChildren = 0 } = await read(parentId)
        expect(openChildren).toBe(0)
        expect(task.events.filter(({ kind }) => kind === 'child-completed')).toMatchObject([
          { childTaskId: child, status: 'failed' },
          { childTaskId: child, status: 'succeeded' },
        ])
      })

      it('is refused below a parent that is over or to be cancelled', async () => {
        for (const end of ['succeeded', 'cancelling'] as const) {
          const parentId = await create({ type: 'report' })
          await begin(parentId)
          const child = await create({ type: 'page', parentTaskId: parentId })
          await fail(child)
          if (end === 'succeeded') await finish(parentId, 1, { kind: 'succeeded' })
          else await store.cancel({ taskId: parentId })
          expect(await resend(child)).toEqual({ kind: 'parent', parentTaskId: parentId, status: end })
          expect((await read(child)).task.status).toBe('failed')
          expect(await store.deadLetters.get(child)).toMatchObject({ id: child, reason: 'failed' })
        }
      })

      it('is refused if another task has the key by then, and takes the key again if nobody has', async () => {
        const key = { idempotencyKey: 'key', keyTtlMs: 60_000 }
        const first = await failed(key)
        expect(await resend(first)).toMatchObject({ kind: 'resent' })
        await fail(first, 2)
        const other = await create({ ...key, resubmitAfterFailure: true })
        expect(await resend(first)).toEqual({ kind: 'key', holderId: other })
        expect(await store.deadLetters.get(first)).toBeDefined()

        const short = { idempotencyKey: 'short', keyTtlMs: 0 }
        const free = await failed(short)
        expect(await resend(free)).toMatchObject({ kind: 'resent' })
        const input = { type: 'mail', handlerVersion: 1, status: 'pending' as const, tags: [], payloadJson: '{"n":1}' }
        const retentionPolicy = DEFAULT_RETENTION_POLICY
        const result = await store.create({ id: randomUUID(), ...input, ...short, retentionPolicy })
        expect(result).toMatchObject({ kind: 'exists', stored: { task: { id: free } } })
      })
    })

    describe('to discard one', () => {
      it('removes it with all that belongs to it', async () => {
        const id = await create()
        await begin(id)
        await store.recordStep({ taskId: id, attempt: 1, step: { key: 'now#0~0', json: '1' } })
        await finish(id, 1, { kind: 'failed', error: { name: 'E', message: 'm' } })
        const other = await failed()
        const results = await Promise.all([store.deadLetters.discard(id), store.deadLetters.discard(id)])
        expect(results.sort()).toEqual([false, true])
        expect(await store.get(id)).toBeUndefined()
        expect(await store.readSteps(id)).toEqual([])
        expect(await listed()).toEqual([other])
        expect(await store.deadLetters.count({ type: 'mail' })).toBe(1)
        expect(await resend(id)).toEqual({ kind: 'missing' })
      })
    })

    describe('a dead letter and the time that its row is kept', () => {
      it('goes with its row', async () => {
        const retentionPolicy = { ...DEFAULT_RETENTION_POLICY, keepFailedRowDays: LEASE_MS / 86_400_000 }
        const id = await failed({ retentionPolicy })
        expect(await listed()).toEqual([id])
        await pass(LEASE_MS + 100)
        expect(await store.deadLetters.get(id)).toBeUndefined()
        expect(await listed()).toEqual([])
        expect(await store.deadLetters.count({})).toBe(0)
        expect(await resend(id)).toEqual({ kind: 'missing' })
      })

      it('keeps a row that runs again, however long that takes', async () => {
        const retentionPolicy = { ...DEFAULT_RETENTION_POLICY, keepFailedRowDays: LEASE_MS / 86_400_000 }
        const id = await failed({ retentionPolicy })
        await resend(id)
        await begin(id)
        await pass(LEASE_MS + 100)
        await store.removeExpired({ limit: 10 })
        expect((await read(id)).task.status).toBe('running')
      })

      it('takes its children along when it is discarded, and frees its key', async () => {
        const parentId = await create({ type: 'report', idempotencyKey: 'key' })
        await begin(parentId)
        const child = await create({ type: 'page', parentTaskId: parentId })
        await fail(child)
        await finish(parentId, 1, { kind: 'failed', error: { name: 'E', message: 'm' } })
        expect(await store.deadLetters.discard(parentId)).toBe(true)
        expect(await store.get(parentId)).toBeUndefined()
        await store.removeExpired({ limit: 10 })
        expect(await store.get(child)).toBeUndefined()
        expect(await listed()).toEqual([])
        const next = await create({ type: 'report', idempotencyKey: 'key' })
        expect((await read(next)).task.status).toBe('pending')
      })
    })

    describe('a task that loses its workers', () => {
      it.each([1, 2, 5])('T10 is delivered %d times at most, and fails with an error that says so', async (limit) => {
        const id = await create()
        for (let delivery = 1; delivery <= limit; delivery++) {
          const begun = await begin(id, { redelivered: delivery > 1, maxDeliveries: limit })
          expect(begun).toMatchObject({ kind: 'begun', attempt: delivery })
        }
        const failed = (await begin(id, { redelivered: true, maxDeliveries: limit })) as BeginResult & {
          kind: 'failed'
        }
        const { message } = new MaxDeliveriesExceededError(id, limit)
        expect(failed).toMatchObject({ kind: 'failed', stored: { losses: limit, failures: 0 } })
        const { task } = await read(id)
        expect(task).toMatchObject({ status: 'failed', error: { name: 'MaxDeliveriesExceededError', message } })
        expect(task.terminalAt).toBe(new Date(failed.at).toISOString())
        expect(task.attempts.map(({ status }) => status)).toEqual(Array.from({ length: limit }, () => 'timed-out'))
        expect(failed.stored.task).toMatchObject({ id, error: task.error, attempts: task.attempts })
        expect(await begin(id, { redelivered: true })).toMatchObject({ kind: 'refused', reason: 'stale' })
        expect(await finish(id, limit, { kind: 'succeeded' })).toMatchObject({ kind: 'lost', status: 'failed' })
        expect(await unqueued()).toEqual([])
      })

      it('T10 fails although somebody else has ended its last lease', async () => {
        const id = await create()
        await begin(id, { ms: LEASE_MS })
        await pass(LEASE_MS + 50)
        expect(await store.expireAttempts({ limit: 10 })).toMatchObject([
          { task: { id, status: 'pending' }, losses: 1 },
        ])
        expect(await begin(id, { maxDeliveries: 1 })).toMatchObject({ kind: 'failed' })
        expect((await read(id)).task.status).toBe('failed')
        expect(await unqueued()).toEqual([])
      })

      it('has no limit unless one is given', async () => {
        const id = await create()
        for (let delivery = 1; delivery <= 20; delivery++) {
          expect(await begin(id, { redelivered: true })).toMatchObject({ kind: 'begun', attempt: delivery })
        }
        expect(await begin(id, { redelivered: true, maxDeliveries: Infinity })).toMatchObject({ kind: 'begun' })
      })

      it.each<AttemptOutcome>([
        { kind: 'released' },
        { kind: 'parked', delayMs: 1 },
        { kind: 'suspended', awaiting: [] },
        { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 0 },
      ])('does not come nearer to it by an attempt that is $kind', async (outcome) => {
        const id = await create()
        for (let attempt = 1; attempt <= 4; attempt++) {
          expect(await begin(id, { maxDeliveries: 1 })).toMatchObject({ kind: 'begun', attempt })
          await finish(id, attempt, outcome)
        }
        expect((await read(id)).losses).toBe(0)
      })

      it('is cancelled rather than failed if that was asked for', async () => {
        const id = await create()
        await begin(id)
        await store.cancel({ taskId: id })
        expect(await begin(id, { redelivered: true, maxDeliveries: 1 })).toMatchObject({ kind: 'cancelled' })
      })

      it('tells its parent, and wakes one that waits for it', async () => {
        const parentId = await create({ type: 'report' })
        await begin(parentId)
        const child = { id: randomUUID(), type: 'page', handlerVersion: 1, status: 'pending' as const, tags: [] }
        await store.spawnChild({
          parentId,
          attempt: 1,
          step: { key: 'spawn', json: '{}' },
          child: { ...child, parentTaskId: parentId, retentionPolicy: DEFAULT_RETENTION_POLICY },
        })
        await finish(parentId, 1, { kind: 'suspended', awaiting: [child.id] })
        await begin(child.id)
        const failed = await begin(child.id, { redelivered: true, maxDeliveries: 1 })
        expect(failed).toMatchObject({ kind: 'failed', parent: { taskId: parentId, type: 'report', woken: true } })
        const { task } = await read(parentId)
        expect(task.status).toBe('pending')
        expect(task.events).toContainEqual(
          expect.objectContaining({ kind: 'child-completed', childTaskId: child.id, status: 'failed' }),
        )
        await pass(5)
        expect(await unqueued()).toEqual([parentId])
      })
    })
  })
}
