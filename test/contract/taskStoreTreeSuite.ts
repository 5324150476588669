import { type AttemptOutcome, type CreateTask, type ParentUpdate, type TaskStore } from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import { eachWithStore, type TaskStoreHarness } from './taskStore/eachWithStore.js'
import { newTask } from './taskStore/newTask.js'

const WORKER = 'worker-1'
const LEASE_MS = 400
const FAILED: AttemptOutcome = { kind: 'failed', error: { name: 'E', message: 'm' } }
const SUCCEEDED: AttemptOutcome = { kind: 'succeeded', resultJson: '1' }

/** What any store has to do about parents, children and recorded steps. */
export const taskStoreTreeSuite = (name: string, makeStore: () => Promise<TaskStoreHarness>): void => {
  describe(`${name} as a store of task trees`, () => {
    let store: TaskStore
    const { pass } = eachWithStore(makeStore, (made) => (store = made))

    const begin = async (taskId: string, ms = 60_000): Promise<number> => {
      const begun = await store.beginAttempt({
        taskId,
        workerId: WORKER,
        visibilityTimeoutMs: ms,
        redelivered: false,
      })
      if (begun.kind !== 'begun') throw new Error(`not begun: ${JSON.stringify(begun)}`)
      return begun.attempt
    }

    const finish = (taskId: string, outcome: AttemptOutcome, attempt = 1) =>
      store.finishAttempt({ taskId, attempt, workerId: WORKER, startedAt: Date.now(), outcome })

    const run = async (taskId: string, outcome: AttemptOutcome): Promise<ParentUpdate | undefined> => {
      await begin(taskId)
      const result = await finish(taskId, outcome)
      return result.kind === 'finished' ? result.parent : undefined
    }

    const read = async (taskId: string) => {
      const stored = await store.get(taskId)
      if (stored === undefined) throw new Error(`no row ${taskId}`)
      return stored
    }

    const parent = async (): Promise<string> => {
      const { id } = newTask()
      await store.create(newTask({ id, type: 'report' }))
      await begin(id)
      return id
    }

    const spawn = async (parentId: string, more: Partial<CreateTask> = {}, attempt = 1) => {
      const child = newTask({ parentTaskId: parentId, ...more })
      const result = await store.spawnChild({
        parentId,
        attempt,
        step: { key: `spawn:${child.id}`, json: '{}' },
        child,
      })
      return { id: child.id, result }
    }

    const spawned = async (parentId: string, count: number, attempt = 1): Promise<string[]> => {
      const ids: string[] = []
      for (let index = 0; index < count; index++) ids.push((await spawn(parentId, {}, attempt)).id)
      return ids
    }

    const unqueued = async (): Promise<string[]> => {
      await pass(5)
      return (await store.findUnqueued({ olderThanMs: 0, limit: 100 })).map(({ task }) => task.id)
    }

    const childEvents = async (taskId: string) =>
      (await read(taskId)).task.events.flatMap((event) => (event.kind === 'child-completed' ? [event] : []))

    describe('spawnChild', () => {
      it('T6 makes the child, its link, the event and the step in one', async () => {
        const id = await parent()
        const { id: childId, result } = await spawn(id, { type: 'page', payloadJson: '{"n":1}', tags: ['gpu'] })
        expect(result).toMatchObject({ kind: 'spawned' })
        const child = await read(childId)
        expect(child.task).toMatchObject({ status: 'pending', type: 'page', parentTaskId: id, payload: { n: 1 } })
        expect(child.task.tags).toEqual(['gpu'])
        const { task, openChildren, hasSteps } = await read(id)
        expect(task.childTaskIds).toEqual([childId])
        expect(task.events.at(-1)).toMatchObject({ kind: 'spawned-child', childTaskId: childId, childType: 'page' })
        expect({ openChildren, hasSteps }).toEqual({ openChildren: 1, hasSteps: true })
        expect(await store.readSteps(id)).toMatchObject([{ key: `spawn:${childId}`, json: '{}' }])
        expect(await unqueued()).toEqual([childId])
      })

      it('T6 is taken once, however often it is sent', async () => {
        const id = await parent()
        const child = newTask({ parentTaskId: id })
        const step = { key: 'spawn', json: '{}' }
        const results = await Promise.all(
          Array.from({ length: 5 }, () => store.spawnChild({ parentId: id, attempt: 1, step, child })),
        )
        expect(results.map(({ kind }) => kind).sort()).toEqual(['exists', 'exists', 'exists', 'exists', 'spawned'])
        expect(await read(id)).toMatchObject({ openChildren: 1, task: { childTaskIds: [child.id] } })
      })

      it('T4 keeps the ids of all children that are spawned at once', async () => {
        const id = await parent()
        const children = await Promise.all(Array.from({ length: 50 }, () => spawn(id)))
        const { task } = await read(id)
        expect([...task.childTaskIds].sort()).toEqual(children.map((child) => child.id).sort())
      })

      it('T18 is lost for an attempt that is over, was overtaken, or never was', async () => {
        const id = await parent()
        expect((await spawn(id, {}, 2)).result).toEqual({ kind: 'refused', reason: 'lost' })
        expect((await spawn('nobody')).result).toEqual({ kind: 'refused', reason: 'lost' })
        await finish(id, SUCCEEDED)
        const late = await spawn(id)
        expect(late.result).toEqual({ kind: 'refused', reason: 'lost' })
        expect(await store.get(late.id)).toBeUndefined()
        expect((await read(id)).task.childTaskIds).toEqual([])
      })

      it('T26 is refused below a parent that has been told to cancel', async () => {
        const id = await parent()
        await store.cancel({ taskId: id, reason: 'why' })
        const late = await spawn(id)
        expect(late.result).toEqual({ kind: 'refused', reason: 'cancelling', cancelReason: 'why' })
        expect(await store.get(late.id)).toBeUndefined()
      })
    })

    describe('create with a parent', () => {
      const born = async (parentTaskId: string, more: Partial<CreateTask> = {}) => {
        const child = newTask({ type: 'page', parentTaskId, ...more })
        return { id: child.id, result: await store.create(child) }
      }

      it.each(['draft', 'pending'] as const)('T48 links a %s child in the step that makes it', async (status) => {
        const id = await parent()
        const { id: childId, result } = await born(id, { status })
        expect(result).toMatchObject({ kind: 'created', taskId: childId, parentType: 'report' })
        const { task, openChildren } = await read(id)
        expect(task.childTaskIds).toEqual([childId])
        expect(openChildren).toBe(1)
        const event = { kind: 'spawned-child', childTaskId: childId, childType: 'page' }
        expect(task.events.at(-1)).toMatchObject(event)
        expect((await read(childId)).task).toMatchObject({ status, parentTaskId: id })
      })

      it('T48 links it once, however often it is sent, also when the parent has ended meanwhile', async () => {
        const id = await parent()
        const child = newTask({ parentTaskId: id })
        await store.create(child)
        expect(await store.create(child)).toMatchObject({ kind: 'exists' })
        await finish(id, SUCCEEDED)
        expect(await store.create(child)).toMatchObject({ kind: 'exists', stored: { task: { id: child.id } } })
        expect((await read(id)).task.childTaskIds).toEqual([child.id])
        expect((await read(id)).openChildren).toBe(1)
      })

      it('T48 is refused below a parent that is missing, over, or told to cancel', async () => {
        const missing = await born('nobody')
        expect(missing.result).toEqual({ kind: 'refused', parentTaskId: 'nobody' })
        const ends: Array<[string, (id: string) => Promise<unknown>]> = [
          ['succeeded', (id) => finish(id, SUCCEEDED)],
          ['failed', (id) => finish(id, FAILED)],
          ['cancelled', async (id) => [await store.cancel({ taskId: id }), await finish(id, { kind: 'cancelled' })]],
          ['cancelling', (id) => store.cancel({ taskId: id })],
        ]
        for (const [parentStatus, end] of ends) {
          const id = await parent()
          await end(id)
          const { id: childId, result } = await born(id)
          expect(result).toEqual({ kind: 'refused', parentTaskId: id, parentStatus })
          expect(await store.get(childId)).toBeUndefined()
          expect((await read(id)).task.childTaskIds).toEqual([])
        }
        expect(await unqueued()).toEqual([])
      })

      it('T48 agrees with a parent that ends in the same moment: counted, or refused', async () => {
        const id = await parent()
        const creates = Array.from({ length: 20 }, () => born(id))
        const [end, children] = await Promise.all([finish(id, SUCCEEDED), Promise.all(creates)])
        const kinds = children.map(({ result }) => result.kind)
        const { task, openChildren = 0 } = await read(id)
        expect(kinds.filter((kind) => kind === 'created')).toHaveLength(openChildren)
        expect(task.childTaskIds).toHaveLength(openChildren)
        expect(kinds.filter((kind) => kind === 'refused')).toHaveLength(20 - openChildren)
        // Whoever ends the parent is told of all that it leaves behind.
        expect(end).toMatchObject({ kind: 'finished', ...(openChildren > 0 && { openChildren }) })
      })

      it('T48 counts the child down when it ends, and does not begin it below a parent that is over', async () => {
        const id = await parent()
        const children = [await born(id), await born(id)]
        expect(await run(children[0]!.id, SUCCEEDED)).toEqual({ taskId: id, type: 'report', woken: false })
        expect((await read(id)).openChildren).toBe(1)
        await finish(id, SUCCEEDED)
        const begun = { taskId: children[1]!.id, workerId: WORKER, visibilityTimeoutMs: 1_000, redelivered: false }
        expect(await store.beginAttempt(begun)).toMatchObject({ kind: 'cancelled' })
        expect((await read(id)).openChildren).toBeUndefined()
      })

      it('T48 wakes a parent that waits for it', async () => {
        const id = await parent()
        const { id: childId } = await born(id)
        await finish(id, { kind: 'suspended', awaiting: [childId] })
        expect(await run(childId, SUCCEEDED)).toEqual({ taskId: id, type: 'report', woken: true })
        expect(await childEvents(id)).toMatchObject([{ childTaskId: childId, status: 'succeeded' }])
      })
    })

    describe('steps', () => {
      const record = (taskId: string, key: string, json: string, attempt = 1) =>
        store.recordStep({ taskId, attempt, step: { key, json } })

      it('are kept by name, the first of each', async () => {
        const id = await parent()
        expect((await read(id)).hasSteps).toBeUndefined()
        const first = await record(id, 'now:0', '{"t":"ä|1"}')
        expect(first).toMatchObject({ kind: 'recorded' })
        expect(await record(id, 'now:0', '2')).toMatchObject({
          kind: 'exists',
          step: { key: 'now:0', json: '{"t":"ä|1"}', at: first.kind === 'recorded' && first.at },
        })
        await record(id, 'now:1', '3')
        expect((await store.readSteps(id)).map(({ key, json }) => [key, json]).sort()).toEqual([
          ['now:0', '{"t":"ä|1"}'],
          ['now:1', '3'],
        ])
        expect((await read(id)).hasSteps).toBe(true)
        expect(await store.readSteps('nobody')).toEqual([])
      })

      it('T18 are lost for an attempt that is not the present one', async () => {
        const id = await parent()
        expect(await record(id, 'a', '1', 2)).toEqual({ kind: 'lost' })
        await finish(id, FAILED)
        expect(await record(id, 'a', '1')).toEqual({ kind: 'lost' })
        expect(await record('nobody', 'a', '1')).toEqual({ kind: 'lost' })
        expect(await store.readSteps(id)).toEqual([])
      })
    })

    describe('suspension', () => {
      it('T11 closes the attempt, counts it against nothing, and waits', async () => {
        const id = await parent()
        const children = await spawned(id, 2)
        const result = await finish(id, { kind: 'suspended', awaiting: children })
        expect(result).toMatchObject({ kind: 'finished', status: 'waiting', openChildren: 2 })
        const { task, failures, losses } = await read(id)
        expect(task).toMatchObject({ status: 'waiting', attempts: [{ attempt: 1, status: 'suspended' }] })
        expect(task.attempts[0]?.finishedAt).toBeDefined()
        expect(task.visibilityDeadline).toBeUndefined()
        expect(JSON.parse(task.resumeToken ?? '')).toEqual(children)
        expect({ failures, losses }).toEqual({ failures: 0, losses: 0 })
        expect(
          await store.beginAttempt({ taskId: id, workerId: 'w', visibilityTimeoutMs: 1, redelivered: true }),
        ).toEqual({ kind: 'refused', reason: 'stale', status: 'waiting' })
      })

      it('G11 ends with the last awaited child, which wakes the parent once', async () => {
        const id = await parent()
        const [a = '', b = '', sibling = ''] = await spawned(id, 3)
        await finish(id, { kind: 'suspended', awaiting: [a, b] })
        expect(await run(sibling, SUCCEEDED)).toEqual({ taskId: id, type: 'report', woken: false })
        expect(await run(a, FAILED)).toEqual({ taskId: id, type: 'report', woken: false })
        expect((await read(id)).task.status).toBe('waiting')
        expect(await run(b, SUCCEEDED)).toEqual({ taskId: id, type: 'report', woken: true })
        const { task, openChildren } = await read(id)
        expect(task.status).toBe('pending')
        expect(task.resumeToken).toBeUndefined()
        expect(openChildren).toBeUndefined()
        expect(await unqueued()).toEqual([id])
        expect(await begin(id)).toBe(2)
      })

      it('T2 does not wait for children that have ended meanwhile', async () => {
        const id = await parent()
        const children = await spawned(id, 2)
        for (const child of children) expect(await run(child, SUCCEEDED)).toMatchObject({ woken: false })
        const awaiting = [...children, 'a child that is gone']
        expect(await finish(id, { kind: 'suspended', awaiting })).toMatchObject({ kind: 'finished', status: 'pending' })
        expect((await read(id)).task).toMatchObject({ status: 'pending', attempts: [{ status: 'suspended' }] })
        expect(await unqueued()).toEqual([id])
      })

      it('T2 agrees with a child that ends in the same moment', async () => {
        for (let round = 0; round < 20; round++) {
          const id = await parent()
          const [child = ''] = await spawned(id, 1)
          await begin(child)
          const [suspended, ended] = await Promise.all([
            finish(id, { kind: 'suspended', awaiting: [child] }),
            finish(child, SUCCEEDED),
          ])
          const woken = ended.kind === 'finished' && ended.parent?.woken === true
          expect(suspended).toMatchObject({ kind: 'finished', status: woken ? 'waiting' : 'pending' })
          expect((await read(id)).task.status).toBe('pending')
        }
      })

      it('G11 wakes once, whichever of many children end at the same time', async () => {
        const id = await parent()
        const children = await spawned(id, 20)
        await finish(id, { kind: 'suspended', awaiting: children })
        const told = await Promise.all(children.map((child) => run(child, SUCCEEDED)))
        expect(told.filter((update) => update?.woken)).toHaveLength(1)
        const completed = (await childEvents(id)).map(({ childTaskId }) => childTaskId)
        expect(completed.sort()).toEqual([...children].sort())
      })

      it('T24 gives way to a cancel', async () => {
        const id = await parent()
        const children = await spawned(id, 1)
        await store.cancel({ taskId: id, reason: 'why' })
        expect(await finish(id, { kind: 'suspended', awaiting: children })).toMatchObject({
          kind: 'finished',
          status: 'cancelled',
          cancelReason: 'why',
          openChildren: 1,
        })
      })

      it('is ended by a cancel at once, and no child wakes it any more', async () => {
        const id = await parent()
        const [child = ''] = await spawned(id, 1)
        await finish(id, { kind: 'suspended', awaiting: [child] })
        const result = await store.cancel({ taskId: id })
        expect(result).toMatchObject({
          kind: 'cancelled',
          stored: { task: { status: 'cancelled', childTaskIds: [child] } },
        })
        expect((await read(id)).task.resumeToken).toBeUndefined()
        expect(await store.cancel({ taskId: child })).not.toHaveProperty('parent')
        expect((await read(id)).task.status).toBe('cancelled')
        expect(await childEvents(id)).toEqual([])
      })

      it('T21 parks for a time, and counts that against nothing', async () => {
        const id = await parent()
        const result = await finish(id, { kind: 'parked', delayMs: 10_000 })
        expect(result).toMatchObject({ kind: 'finished', status: 'pending' })
        expect(result.kind === 'finished' && result.notBefore).toBe(result.kind === 'finished' && result.at + 10_000)
        const { task, failures } = await read(id)
        expect(task).toMatchObject({ status: 'pending', attempts: [{ status: 'suspended' }] })
        expect(failures).toBe(0)
      })
    })

    describe('the end of a child', () => {
      const waitingFor = async (): Promise<{ id: string; child: string }> => {
        const id = await parent()
        const [child = ''] = await spawned(id, 1)
        await finish(id, { kind: 'suspended', awaiting: [child] })
        return { id, child }
      }

      it.each<[string, (child: string) => Promise<{ parent?: ParentUpdate | undefined }>]>([
        ['success', async (child) => ({ parent: await run(child, SUCCEEDED) })],
        ['final failure', async (child) => ({ parent: await run(child, FAILED) })],
        ['cancel', async (child) => store.cancel({ taskId: child }) as Promise<{ parent?: ParentUpdate }>],
        [
          'begin of a cancelling row',
          async (child) => {
            await begin(child)
            await store.cancel({ taskId: child })
            const begun = { taskId: child, workerId: 'w', visibilityTimeoutMs: 1, redelivered: true }
            return store.beginAttempt(begun) as Promise<{ parent?: ParentUpdate }>
          },
        ],
        [
          'end of the lease of a cancelling row',
          async (child) => {
            await begin(child, LEASE_MS)
            await store.cancel({ taskId: child })
            await pass(LEASE_MS + 50)
            return (await store.expireAttempts({ limit: 10 }))[0] ?? {}
          },
        ],
      ])('reaches the parent once, by %s', async (_, end) => {
        const { id, child } = await waitingFor()
        expect((await end(child)).parent).toEqual({ taskId: id, type: 'report', woken: true })
        const { status } = (await read(child)).task
        expect(await childEvents(id)).toMatchObject([{ kind: 'child-completed', childTaskId: child, status }])
        expect((await read(id)).task.status).toBe('pending')
      })

      it('does not reach the parent when it is none: a retry, a release, a suspension', async () => {
        const { id, child } = await waitingFor()
        const outcomes: AttemptOutcome[] = [{ ...FAILED, retryDelayMs: 0 }, { kind: 'released' }]
        for (const [index, outcome] of outcomes.entries()) {
          await begin(child)
          expect(await finish(child, outcome, index + 1)).not.toHaveProperty('parent')
        }
        expect(await childEvents(id)).toEqual([])
        expect((await read(id)).task.status).toBe('waiting')
      })

      it.each([SUCCEEDED, FAILED])('T26 does not begin below a parent that is over: $kind', async (outcome) => {
        const id = await parent()
        const [child = ''] = await spawned(id, 1)
        await finish(id, outcome)
        const begun = { taskId: child, workerId: WORKER, visibilityTimeoutMs: 1_000, redelivered: false }
        expect(await store.beginAttempt(begun)).toMatchObject({
          kind: 'cancelled',
          stored: { task: { status: 'cancelled', attempts: [] }, cancelReason: 'parent-ended' },
        })
        expect((await read(child)).task.terminalAt).toBeDefined()
        expect((await read(id)).openChildren).toBeUndefined()
      })

      it('T26 does not take over below a parent that is over', async () => {
        const id = await parent()
        const [child = ''] = await spawned(id, 1)
        await begin(child)
        await finish(id, SUCCEEDED)
        const begun = { taskId: child, workerId: 'worker-2', visibilityTimeoutMs: 1_000, redelivered: true }
        expect(await store.beginAttempt(begun)).toMatchObject({
          kind: 'cancelled',
          stored: { losses: 1, cancelReason: 'parent-ended', task: { attempts: [{ status: 'timed-out' }] } },
        })
        expect((await read(id)).openChildren).toBeUndefined()
      })

      it('counts down the open children of a parent that runs', async () => {
        const id = await parent()
        const [a = '', b = ''] = await spawned(id, 2)
        await run(a, SUCCEEDED)
        expect((await read(id)).openChildren).toBe(1)
        await begin(b)
        expect(await finish(id, SUCCEEDED)).toMatchObject({ status: 'succeeded', openChildren: 1 })
        await finish(b, SUCCEEDED)
        expect((await read(id)).openChildren).toBeUndefined()
      })
    })

    it('T56 takes 10,000 children of one parent, and wakes it with the last one', { timeout: 60_000 }, async () => {
      const id = await parent()
      const ids: string[] = []
      for (let page = 0; page < 20; page++) {
        const children = await Promise.all(Array.from({ length: 500 }, () => spawn(id)))
        ids.push(...children.map((child) => child.id))
      }
      expect(await finish(id, { kind: 'suspended', awaiting: ids })).toMatchObject({ status: 'waiting' })
      let woken = 0
      for (let from = 0; from < ids.length; from += 500) {
        expect((await read(id)).task.status).toBe('waiting')
        const results = await Promise.all(ids.slice(from, from + 500).map((taskId) => store.cancel({ taskId })))
        woken += results.filter((result) => result.kind === 'cancelled' && result.parent?.woken).length
      }
      expect(woken).toBe(1)
      const { task, openChildren } = await read(id)
      expect(task.status).toBe('pending')
      expect(openChildren).toBeUndefined()
      expect(task.childTaskIds).toHaveLength(10_000)
    })
  })
}
