import {
  type AttemptOutcome,
  DEFAULT_RETENTION_POLICY,
  MemoryTaskStore,
  type TaskRetentionPolicy,
  type TaskStore,
} from '@furystack/task-runner'
import fc from 'fast-check'
import { expect, it } from 'vitest'

import { keys } from '../../src/keys/keys.js'
import { redisTaskStore } from '../../src/redis/redisTaskStore.js'
import { assertProperty } from '../support/assertProperty.js'
import { connectTo } from '../support/connectTo.js'
import { namedStep } from '../support/namedStep.js'
import { connectClient, uniquePrefix } from '../support/redis.js'

const RUNS = 100
const TASKS = ['t0', 't1', 't2', 't3', 't4', 't5'] as const
const STORES = ['s3', 'other|store'] as const
const LEASE_MS = 3_600_000
const FAILED: AttemptOutcome = { kind: 'failed', error: { name: 'E', message: 'no' } }
const OUTCOMES: readonly AttemptOutcome[] = [
  { kind: 'succeeded' },
  { kind: 'succeeded' },
  FAILED,
  { ...FAILED, retryDelayMs: 0 },
  { kind: 'released' },
]

const step = namedStep<TaskStore>

const anyTask = fc.constantFrom(...TASKS)
const anyMode = fc.constantFrom('keep', 'delete-intermediate', 'delete-all', 'delete-all')
/** Some keys are those of blobs that a task produces, the others of nobody's. */
const anyBlob = fc.record({
  storeName: fc.constantFrom(...STORES),
  key: fc.constantFrom('in/1', 'in|2', ...TASKS.map((id) => `tasks/${id}/out`)),
})

const isOwn = (taskId: string, key: string): boolean => key.startsWith(`tasks/${taskId}/`)

const createOf = (id: string) =>
  fc.record({ onSuccess: anyMode, isKept: fc.boolean(), given: fc.option(anyBlob) }).map((args) =>
    step('create', { id, ...args }, async (store) => {
      const { onSuccess, isKept, given } = args
      const retentionPolicy: TaskRetentionPolicy = {
        ...DEFAULT_RETENTION_POLICY,
        onSuccess,
        onFailure: onSuccess === 'keep' ? 'keep' : 'delete-all',
        ttlAfterTerminalDays: 0,
        keepRowDays: isKept ? Infinity : 1,
      }
      const row = { id, type: 'page', handlerVersion: 1, status: 'pending', tags: [], retentionPolicy } as const
      return (await store.create({ ...row, ...(given && !isOwn(id, given.key) && { consumedBlobs: [given] }) })).kind
    }),
  )

const attemptOf = async (store: TaskStore, id: string): Promise<number> =>
  (await store.get(id))?.task.attempts.length ?? 1

const begin = anyTask.map((taskId) =>
  step('begin', { taskId }, async (store) => {
    const input = { taskId, workerId: 'w', visibilityTimeoutMs: LEASE_MS, redelivered: false }
    return (await store.beginAttempt(input)).kind
  }),
)

const finish = fc.record({ taskId: anyTask, outcome: fc.constantFrom(...OUTCOMES) }).map(({ taskId, outcome }) =>
  step('finish', { taskId, outcome }, async (store) => {
    const attempt = await attemptOf(store, taskId)
    return (await store.finishAttempt({ taskId, attempt, workerId: 'w', startedAt: 0, outcome })).kind
  }),
)

const produce = fc.record({ taskId: anyTask, storeName: fc.constantFrom(...STORES) }).map(({ taskId, storeName }) =>
  step('produce', { taskId, storeName }, async (store) => {
    const blob = { storeName, key: `tasks/${taskId}/out` }
    return (await store.recordBlob({ taskId, attempt: await attemptOf(store, taskId), use: 'produced', blob })).kind
  }),
)

const consume = fc
  .record({ taskId: anyTask, blob: anyBlob })
  .filter(({ taskId, blob }) => !isOwn(taskId, blob.key))
  .map(({ taskId, blob }) =>
    step('consume', { taskId, blob }, async (store) => {
      return (await store.recordBlob({ taskId, attempt: await attemptOf(store, taskId), use: 'consumed', blob })).kind
    }),
  )

const cancel = anyTask.map((taskId) =>
  step('cancel', { taskId }, async (store) => (await store.cancel({ taskId })).kind),
)

const resend = anyTask.map((id) =>
  step('resend', { id }, async (store) => (await store.deadLetters.resend({ id, fromScratch: false })).kind),
)

/** A whole run. */
const live = fc
  .record({ taskId: anyTask, storeName: fc.constantFrom(...STORES), given: fc.array(anyBlob, { maxLength: 3 }) })
  .map(({ taskId, storeName, given }) =>
    step('live', { taskId, storeName, given }, async (store) => {
      const begun = await store.beginAttempt({
        taskId,
        workerId: 'w',
        visibilityTimeoutMs: LEASE_MS,
        redelivered: false,
      })
      if (begun.kind !== 'begun') return begun.kind
      const fence = { taskId, attempt: begun.attempt }
      await store.recordBlob({ ...fence, use: 'produced', blob: { storeName, key: `tasks/${taskId}/out` } })
      for (const blob of given.filter(({ key }) => !isOwn(taskId, key)))
        await store.recordBlob({ ...fence, use: 'consumed', blob })
      return (await store.finishAttempt({ ...fence, workerId: 'w', startedAt: 0, outcome: { kind: 'succeeded' } })).kind
    }),
  )

/** Tells what is deleted. Tasks that are over at the same time have no order, so it goes on until that makes no difference. */
const sweep = fc.constantFrom(...STORES).map((storeName) =>
  step('sweep', { storeName }, async (store) => {
    const deleted: string[] = []
    for (let pass = 0; pass < 3; pass++) {
      const { tasks } = await store.takeDueBlobs({ storeName, limit: 100, leaseMs: LEASE_MS })
      for (const { taskId, deletable, inUse } of tasks) {
        deleted.push(...deletable.map(({ blob }) => `${storeName} ${blob.key}`))
        const settled = { taskId, storeName, taken: deletable, gone: deletable }
        await store.settleBlobs(inUse.length > 0 ? { ...settled, retryAfterMs: 0 } : settled)
      }
    }
    return deleted.sort()
  }),
)

const anySteps = fc
  .tuple(
    fc.tuple(...TASKS.map(createOf)),
    fc.array(
      fc.oneof(
        { arbitrary: live, weight: 8 },
        { arbitrary: sweep, weight: 5 },
        { arbitrary: fc.oneof(begin, finish, produce, consume, cancel, resend), weight: 12 },
      ),
      { maxLength: 60, size: 'max' },
    ),
  )
  .map(([creates, steps]) => [...creates, ...steps])

const recordsOf = async (store: TaskStore) =>
  (await store.getMany(TASKS)).map((row) => {
    const { producedBlobs, consumedBlobs, blobsSweptAt } = row?.task ?? {}
    return { producedBlobs, consumedBlobs, isSwept: blobsSweptAt !== undefined }
  })

/** Each blob with those that have it on their records. */
const usersOf = async (store: TaskStore): Promise<Map<string, string[]>> => {
  const users = new Map<string, string[]>()
  for (const row of await store.getMany(TASKS)) {
    for (const { storeName, key } of [...(row?.task.consumedBlobs ?? []), ...(row?.task.producedBlobs ?? [])]) {
      const name = `${storeName} ${key}`
      users.set(name, [...(users.get(name) ?? []), row?.task.id ?? ''])
    }
  }
  return users
}

it('T53 memory and Redis delete the same blobs, and none that is on a record afterwards', async () => {
  const client = await connectClient()
  await using connection = connectTo(client)
  let deletions = 0
  await assertProperty(
    [anySteps],
    async ([steps], doing) => {
      const memory = new MemoryTaskStore()
      const redis = redisTaskStore({ connection, keys: keys(uniquePrefix('blobs')) })
      for (const each of steps) {
        doing(each)
        const [inMemory, inRedis] = [await each.run(memory), await each.run(redis)]
        expect(inRedis).toEqual(inMemory)
        if (!Array.isArray(inMemory)) continue
        const users = await usersOf(memory)
        for (const name of inMemory as string[]) expect(users.get(name)).toBeUndefined()
        deletions += inMemory.length
      }
      expect(await recordsOf(redis)).toEqual(await recordsOf(memory))
    },
    { numRuns: RUNS },
  )
  expect(deletions).toBeGreaterThan(RUNS)
}, 60_000)
