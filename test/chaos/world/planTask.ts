import type { SubmitOptions } from '@furystack/task-runner'

import { type Random, randomOf } from '../run/random.js'
import { FLAKY_ATTEMPTS } from '../run/settings.js'

/** The kinds of tasks in a chaos run; what they do is in chaosHandlers. */
export const TASK_TYPES = [
  'quick',
  'slow',
  'capped',
  'flaky',
  'family',
  'child',
  'tagged',
  'poison',
  'endless',
  'fleeting',
  'late',
  'observed',
] as const

/** One of {@link TASK_TYPES}. */
export type TaskType = (typeof TASK_TYPES)[number]

/** What every task carries. */
export interface ChaosPayload {
  /** Names the submission, or the place in the family: no two tasks share it. */
  readonly ref: string
  readonly ms: number
  /** It goes on when it is told to stop. */
  readonly isStubborn?: boolean
  /** Runs that fail. */
  readonly failures?: number
  /** How many children, and how many generations of them. */
  readonly children?: number
  readonly generations?: number
}

/** A submission, and what its submitter does about it afterwards. */
export interface PlannedTask {
  readonly type: TaskType
  readonly options: Omit<SubmitOptions<ChaosPayload>, 'notBefore' | 'startBefore'>
  readonly delayMs?: number
  readonly startWithinMs?: number
  readonly cancelAfterMs?: number
  /** It is drafted first, and started a moment later. */
  readonly isDraft?: boolean
  readonly isWaitedFor: boolean
}

const MIX: ReadonlyArray<readonly [share: number, type: TaskType | 'delayed' | 'drafted' | 'keyed']> = [
  [18, 'quick'],
  [11, 'slow'],
  [14, 'capped'],
  [10, 'flaky'],
  [9, 'family'],
  [6, 'tagged'],
  [6, 'endless'],
  [5, 'fleeting'],
  [4, 'late'],
  [6, 'observed'],
  [6, 'drafted'],
  [10, 'delayed'],
  [7, 'keyed'],
]
/** It fails for good; then whoever sends it again finds it well, or as it was. */
const HOPELESS = [FLAKY_ATTEMPTS, 99]
const TOTAL = MIX.reduce((sum, [share]) => sum + share, 0)

/** Plans one submission after another for a process; those with a key are the same for all submitters of a seed. */
export const taskPlanner = (seed: string, by: string): (() => PlannedTask) => {
  const random = randomOf(`${seed}/${by}`)
  let count = 0
  let keys = 0
  return () => {
    const ref = `${by}:${++count}`
    // Few of them: each takes two processes with it. Not the first one, so that something else has begun by then.
    if (count % 150 === 75) return plan('poison', { ref, ms: 0 }, random)
    const type = typeOf(random.next() * TOTAL)
    if (type === 'keyed') {
      const key = `key-${++keys}`
      const shared = randomOf(`${seed}/${key}`)
      const options = { ...optionsOf('quick', { ref: key, ms: shared.int(0, 300) }), idempotencyKey: key }
      return { type: 'quick', options, isWaitedFor: random.chance(0.2) }
    }
    if (type === 'delayed')
      return { ...plan('quick', { ref, ms: random.int(0, 50) }, random), delayMs: random.int(100, 4_000) }
    if (type === 'drafted') return { ...plan('quick', { ref, ms: 0 }, random), isDraft: true }
    return plan(type, { ref, ms: 0 }, random)
  }
}

const typeOf = (at: number): (typeof MIX)[number][1] => {
  let passed = 0
  for (const [share, type] of MIX) {
    passed += share
    if (at < passed) return type
  }
  return 'quick'
}

const optionsOf = (type: TaskType, payload: ChaosPayload): PlannedTask['options'] => ({
  type,
  handlerVersion: 1,
  payload,
  ...(type === 'tagged' && { tags: ['special'] }),
})

const plan = (type: TaskType, { ref }: ChaosPayload, random: Random): PlannedTask => {
  const isWaitedFor = random.chance(0.15)
  const planned = (payload: Omit<ChaosPayload, 'ref'>, more: Partial<PlannedTask> = {}): PlannedTask => ({
    type,
    options: optionsOf(type, { ref, ...payload }),
    isWaitedFor,
    ...more,
  })
  switch (type) {
    case 'slow':
      return planned({ ms: random.int(500, 3_500), ...(random.chance(0.5) && { isStubborn: true }) })
    case 'capped':
      // Together about as many as the cap lets run.
      return planned({ ms: random.int(100, 900) })
    case 'flaky':
      return planned({ ms: random.int(0, 50), failures: random.chance(0.2) ? random.pick(HOPELESS) : random.int(1, 3) })
    case 'family':
      return planned({ ms: random.int(0, 50), children: random.int(1, 4), generations: random.chance(0.2) ? 2 : 1 })
    case 'observed':
      // Some of them are told to stop while they run.
      return random.chance(0.4)
        ? planned({ ms: 8_000 }, { cancelAfterMs: random.int(0, 2_500), isWaitedFor: false })
        : planned({ ms: random.int(0, 2_500) })
    case 'endless':
      return planned({ ms: 8_000 }, { cancelAfterMs: random.int(0, 2_500), isWaitedFor: false })
    case 'fleeting':
      return planned({ ms: random.int(0, 50) }, { isWaitedFor: false })
    case 'late':
      return planned({ ms: random.int(0, 50) }, { startWithinMs: random.int(50, 1_500), isWaitedFor: false })
    case 'poison':
      return planned({ ms: 0 }, { isWaitedFor: false })
    default:
      return planned({ ms: random.int(0, 60) })
  }
}
