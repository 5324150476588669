import type { Random } from './random.js'

/** What a task does, which its payload says. */
export type Plan =
  /** Takes a while. */
  | { readonly does: 'work'; readonly ms: number; readonly value: number }
  /** Sleeps, which gives its slot back. */
  | { readonly does: 'sleep'; readonly ms: number; readonly value: number }
  /** Fails so often, and then does not; from 3 on it has failed for good. */
  | { readonly does: 'fail'; readonly times: number; readonly value: number }
  | { readonly does: 'refuse'; readonly value: number }
  /** Kills its process so often; from 3 on it has failed for good. */
  | { readonly does: 'kill'; readonly times: number; readonly value: number }
  /** Says "not now" at first. */
  | { readonly does: 'postpone'; readonly value: number }
  /** Does not listen to its signal. */
  | { readonly does: 'ignore'; readonly ms: number; readonly value: number }
  /** Waits until it is cancelled; only for children that are left behind. */
  | { readonly does: 'wait'; readonly value: number }
  /** Has children, beside each other, one after the other, or without waiting for them. */
  | { readonly does: 'beside' | 'after' | 'leave'; readonly children: readonly Plan[]; readonly value: number }

/** How often a task may fail, and how often its process may die of it. */
export const LIMIT = 3

/** How long a task rests after its first failure; after the second, twice as long. */
export const BACKOFF_MS = 250

/** The types that tasks have. */
export const TYPES = ['task', 'job'] as const

/** What tasks answer: the value of their plan, and who came to it. */
export interface Answer {
  readonly value: number
  readonly workerId: string
}

/** How many tasks may still wait for their cancel: each keeps a slot, and some have to be left for others. */
export interface Budget {
  waits: number
}

/** A plan as chance has it, whose trees are at most so deep. */
export const somePlan = (random: Random, budget: Budget, depth = 2): Plan => {
  const value = random.whole(1, 9)
  const ms = random.whole(0, 400)
  const does = random.pick([
    ...(['work', 'work', 'sleep', 'fail', 'postpone', 'ignore'] as const),
    ...(random.chance(0.3) ? (['refuse', 'kill'] as const) : []),
    ...(depth > 0 ? (['beside', 'after', 'leave'] as const) : []),
  ])
  switch (does) {
    case 'work':
    case 'sleep':
    case 'ignore':
      return { does, ms, value }
    case 'fail':
      return { does, times: random.whole(1, LIMIT), value }
    case 'kill':
      return { does, times: random.whole(1, LIMIT), value }
    case 'refuse':
    case 'postpone':
      return { does, value }
    default: {
      const children = Array.from({ length: random.whole(1, 3) }, () => somePlan(random, budget, depth - 1))
      if (does === 'leave' && budget.waits > 0 && random.chance(0.7)) {
        budget.waits--
        children.push({ does: 'wait', value })
      }
      return { does, children, value }
    }
  }
}

/** What a task comes to if nobody cancels anything: its result, or `undefined` if it fails. */
export const resultOf = (plan: Plan): number | undefined => {
  const { does, value } = plan
  if (does === 'refuse' || ((does === 'fail' || does === 'kill') && plan.times >= LIMIT)) return undefined
  if (does !== 'beside' && does !== 'after') return value
  let sum = value
  for (const child of plan.children) {
    const result = resultOf(child)
    if (result === undefined) return undefined
    sum += result
  }
  return sum
}
