import { type AttemptOutcome, DEFAULT_RETENTION_POLICY, type StoredTask, type TaskStore } from '@furystack/task-runner'
import fc from 'fast-check'

import { type NamedStep, namedStep } from '../../support/namedStep.js'

/** A lease of this length ends within no test, and one of no length has ended when it begins. */
const AGES_MS = 3_600_000

/** One store, and what it told that further steps need. */
export interface Side {
  readonly store: TaskStore
  /** When each attempt began, by task and number. */
  readonly startedAt: Map<string, number>
  /** Dead letters that were discarded while they had open children: their rows stay until these have ended. */
  readonly discarded: Set<string>
}

/** Tells what has to be the same for every store. */
export type StoreStep = NamedStep<Side>

const step = namedStep<Side>

export const TASKS = ['t0', 't1', 't2'] as const
export const CHILDREN = ['c0', 'c1', 'c2', 'c3'] as const
/** A row that is submitted under a parent. */
export const GUESTS = ['g0'] as const
export const ALL = [...TASKS, ...CHILDREN, ...GUESTS]
const WORKERS = ['u', 'v', 'w']
const STEPS = ['now#0~0', 'sleep 5#0~0', 'fetch GET x#0~0']

const isTime = (key: string): boolean =>
  ['at', 'dueAt', 'leaseUntil', 'notBefore', 'startBefore', 'submittedAt', 'terminalAt', 'visibilityDeadline'].includes(
    key,
  ) || ['startedAt', 'finishedAt', 'updatedAt'].includes(key)

/** What a store answered, with times replaced by the fact that they are there. */
export const told = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer ?? null, (key, value: unknown) => (isTime(key) ? 'time' : value)))

/** A row; the events of one millisecond have no order among themselves. */
export const toldRow = (stored: StoredTask | undefined): unknown => {
  if (stored === undefined) return undefined
  const { task } = stored
  const order = (event: object): string => JSON.stringify(Object.entries(event).sort())
  const events = (told(task.events) as object[]).sort((a, b) => order(a).localeCompare(order(b)))
  return told({ ...stored, task: { ...task, events } })
}

/** What comes with a claim may lack children and events. */
const toldClaim = (stored: StoredTask): unknown =>
  told({ ...stored, task: { ...stored.task, events: [], childTaskIds: [] } })

/** Mostly what is there, and of its attempts mostly the present one: everything else is refused in the same few ways. */
const anyId = fc.oneof(
  { arbitrary: fc.nat({ max: 99 }), weight: 12 },
  { arbitrary: fc.constantFrom(...ALL), weight: 1 },
)
const anyWorker = fc.constantFrom(...WORKERS)
const anyAge = fc.constantFrom(0, 0, 0, 0, 0, 1, 2)

const idOf = async ({ store }: Side, id: number | string, among: readonly string[] = ALL): Promise<string> => {
  if (typeof id === 'string') return id
  const there = (await store.getMany(among)).flatMap((row) => (row ? [row.task.id] : []))
  return there[id % Math.max(1, there.length)] ?? 'none'
}

/** The number of an attempt of a task that is so many older than its last. */
const attemptOf = async ({ store }: Side, taskId: string, age: number): Promise<number> =>
  ((await store.get(taskId))?.task.attempts.length ?? 1) - age
const anyVisibility = fc.constantFrom(0, 0, AGES_MS, AGES_MS, AGES_MS)

const create = fc
  .tuple(
    fc.constantFrom(...TASKS, ...GUESTS),
    fc.constantFrom('draft', 'pending', 'pending', 'pending'),
    fc.boolean(),
    fc.constantFrom(undefined, undefined, undefined, 2000, 2100),
  )
  .map(([id, status, isDelayed, year]) =>
    step('create', { id, status, isDelayed, year }, async ({ store }) => {
      const result = await store.create({
        id,
        type: 'mail',
        handlerVersion: 1,
        status: status,
        payloadJson: '{"n":1}',
        tags: [],
        retentionPolicy: DEFAULT_RETENTION_POLICY,
        ...(isDelayed && { notBefore: Date.now() + AGES_MS }),
        // One after the other, as the end of one may tell the other.
        ...(year && { startBefore: Date.UTC(year, 0, ALL.indexOf(id) + 1) }),
        ...(id === 'g0' && { parentTaskId: 't0' }),
      })
      return result.kind === 'exists' ? { kind: 'exists', stored: toldClaim(result.stored) } : told(result)
    }),
  )

const start = fc.tuple(anyId, fc.constantFrom(undefined, {}, { json: '2' })).map(([id, payload]) =>
  step('start', { id, payload }, async (side) => {
    const result = await side.store.start({ taskId: await idOf(side, id), ...(payload && { payload }) })
    return result.stored === undefined ? told(result) : { kind: result.kind, stored: toldClaim(result.stored) }
  }),
)

const begin = fc
  .record({
    id: anyId,
    workerId: anyWorker,
    visibilityTimeoutMs: anyVisibility,
    redelivered: fc.boolean(),
    maxDeliveries: fc.constantFrom(1, 2, 3, Infinity, Infinity),
    onlyIfDue: fc.boolean(),
  })
  .map(({ id, ...input }) =>
    step('begin', { id, ...input }, async (side) => {
      const taskId = await idOf(side, id)
      const result = await side.store.beginAttempt({ taskId, ...input })
      if (result.kind === 'refused') return told(result)
      if (result.kind === 'begun') side.startedAt.set(`${taskId} ${String(result.attempt)}`, result.at)
      return { ...(told(result) as object), stored: toldClaim(result.stored) }
    }),
  )

/** To wait for its own children is what a task does most. */
const anyOutcome: fc.Arbitrary<AttemptOutcome | { kind: 'waits'; without: number }> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('waits' as const), without: fc.integer({ min: 0, max: 4 }) }), weight: 8 },
  { arbitrary: fc.constant<AttemptOutcome>({ kind: 'succeeded', resultJson: '7' }), weight: 4 },
  fc.constantFrom<AttemptOutcome[]>(
    { kind: 'succeeded' },
    { kind: 'failed', error: { name: 'E', message: 'm', stack: 's' } },
    { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: 0 },
    { kind: 'failed', error: { name: 'E', message: 'm' }, retryDelayMs: AGES_MS },
    { kind: 'cancelled', error: { name: 'C', message: 'm' } },
    { kind: 'cancelled' },
    { kind: 'released' },
    { kind: 'released', delayMs: AGES_MS },
    { kind: 'released', unstarted: true },
    { kind: 'parked', delayMs: AGES_MS },
  ),
)

/** The attempt may be anybody's, and long over. */
const finish = fc.record({ id: anyId, age: anyAge, said: anyOutcome }).map(({ id, age, said }) =>
  step('finish', { id, age, said }, async (side) => {
    const taskId = await idOf(side, id)
    const attempt = await attemptOf(side, taskId, age)
    const { attempts = [], childTaskIds = [] } = (await side.store.get(taskId))?.task ?? {}
    const workerId = attempts[attempt - 1]?.workerId ?? 'u'
    const startedAt = side.startedAt.get(`${taskId} ${String(attempt)}`) ?? 1
    const outcome: AttemptOutcome =
      said.kind === 'waits' ? { kind: 'suspended', awaiting: childTaskIds.slice(said.without) } : said
    return told(await side.store.finishAttempt({ taskId, attempt, workerId, startedAt, outcome }))
  }),
)

const anyProgress = fc.constantFrom(undefined, { percent: 5 }, { percent: 9, metaJson: '[1]' })
const extend = fc
  .record({ id: anyId, age: anyAge, visibilityTimeoutMs: anyVisibility, progress: anyProgress })
  .map(({ id, age, visibilityTimeoutMs, progress }) =>
    step('extend', { id, age, visibilityTimeoutMs, progress }, async (side) => {
      const taskId = await idOf(side, id)
      const input = { taskId, attempt: await attemptOf(side, taskId, age), visibilityTimeoutMs }
      return told(await side.store.extendAttempt({ ...input, ...(progress && { progress }) }))
    }),
  )

const cancel = fc.tuple(anyId, fc.constantFrom(undefined, 'why')).map(([id, reason]) =>
  step('cancel', { id, reason }, async (side) => {
    const result = await side.store.cancel({ taskId: await idOf(side, id), ...(reason && { reason }) })
    return 'stored' in result ? { ...(told(result) as object), stored: toldClaim(result.stored) } : told(result)
  }),
)

const spawn = fc
  .record({ parent: fc.nat({ max: 99 }), age: anyAge, id: fc.constantFrom(...CHILDREN) })
  .map(({ parent, age, id }) =>
    step('spawn', { parent, age, id }, async (side) => {
      const parentId = await idOf(side, parent, TASKS)
      const child = { id, type: 'page', handlerVersion: 1, status: 'pending', tags: [] } as const
      const result = await side.store.spawnChild({
        parentId,
        attempt: await attemptOf(side, parentId, age),
        step: { key: `spawn ${id}`, json: '{}' },
        child: { ...child, parentTaskId: parentId, retentionPolicy: DEFAULT_RETENTION_POLICY },
      })
      return told(result)
    }),
  )

const record = fc
  .record({ id: anyId, age: anyAge, key: fc.constantFrom(...STEPS), value: fc.nat({ max: 9 }) })
  .map(({ id, age, key, value }) =>
    step('record', { id, age, key, value }, async (side) => {
      const taskId = await idOf(side, id)
      const attempt = await attemptOf(side, taskId, age)
      return told(await side.store.recordStep({ taskId, attempt, step: { key, json: String(value) } }))
    }),
  )

/** Rows that end together may be told as they are after the first or after the last of them. */
const expire = fc.constant(
  step('expire', {}, async ({ store }) => {
    const expired = await store.expireAttempts({ limit: 100 })
    return expired.map(({ task, parent }) => JSON.stringify([task.id, task.status, parent?.woken])).sort()
  }),
)

const expireTasks = fc.constant(
  step('expireTasks', {}, async ({ store }) => {
    const failed = await store.expireTasks({ limit: 100 })
    return failed.map(({ stored, parent }) => [stored.task.id, stored.task.status, parent?.taskId, parent?.woken])
  }),
)

const resend = fc.tuple(anyId, fc.boolean()).map(([id, fromScratch]) =>
  step('resend', { id, fromScratch }, async (side) => {
    const result = await side.store.deadLetters.resend({ id: await idOf(side, id), fromScratch })
    return result.kind === 'resent' ? [result.kind, result.letter.id, result.letter.reason] : told(result)
  }),
)

const discard = anyId.map((id) =>
  step('discard', { id }, async (side) => {
    const taskId = await idOf(side, id)
    const isDone = await side.store.deadLetters.discard(taskId)
    // What goes with it may go at once or when somebody comes round.
    while ((await side.store.removeExpired({ limit: 100 })).hasMore) continue
    if (isDone && (await side.store.get(taskId)) !== undefined) side.discarded.add(taskId)
    return isDone
  }),
)

const mark = fc.record({ id: anyId, age: anyAge }).map(({ id, age }) =>
  step('mark', { id, age }, async (side) => {
    const taskId = await idOf(side, id)
    return told(await side.store.markEnqueued(taskId, await attemptOf(side, taskId, age)))
  }),
)

const unqueued = fc.constant(step('unqueued', {}, (side) => unqueuedIn(side)))

/** Rows come into being before anything else is done to them. */
export const anySteps: fc.Arbitrary<StoreStep[]> = fc
  .tuple(
    fc.array(create, { minLength: 2, maxLength: 5 }),
    fc.array(
      fc.oneof(
        { arbitrary: begin, weight: 14 },
        { arbitrary: finish, weight: 12 },
        { arbitrary: spawn, weight: 8 },
        { arbitrary: cancel, weight: 1 },
        { arbitrary: extend, weight: 2 },
        { arbitrary: resend, weight: 3 },
        { arbitrary: fc.oneof(create, start, record, expire, expireTasks, mark, unqueued, discard), weight: 6 },
      ),
      { maxLength: 60, size: 'max' },
    ),
  )
  .map(([creates, steps]) => [...creates, ...steps])

/** The dead letters of a type; those of one millisecond have an order of their own. */
export async function deadLettersIn({ store }: Side, type?: string): Promise<string[]> {
  const query = { order: 'oldest', limit: 100, ...(type !== undefined && { type }) } as const
  const { letters } = await store.deadLetters.list(query)
  return letters.map(({ id, reason, at }) => `${id} ${reason} ${at === '' ? '' : 'time'}`).sort()
}

/** The ids of the rows that carry the mark. */
export async function unqueuedIn({ store }: Side): Promise<string[]> {
  return (await store.findUnqueued({ olderThanMs: 0, limit: 100 })).map(({ task }) => task.id).sort()
}
