import type { Task } from '@furystack/task-runner'
import type { FleetWorker } from './fleet.js'
import { countOf } from './format.js'
import { isIdle, type LaneState } from './laneState.js'
import type { Loss } from './killBusyWorker.js'
import type { TaskResult } from './results.js'
import { CONCURRENCY_LIMITS, LANE_TYPES, type LaneType } from './settings.js'
import { mostAtOnce } from './statistics.js'

/** Something that has to hold at the end. */
export interface Check {
  readonly isOk: boolean
  readonly text: string
}

/** What the checks look at. */
export interface Evidence {
  readonly results: readonly TaskResult[]
  /** What computed the hashes that the results were compared with. */
  readonly hashedBy: string
  readonly loss: Loss | undefined
  readonly lanes: readonly LaneState[]
  readonly leftovers: { readonly places: number; readonly dead: number }
  /** When workers ended before their time, by their ids; epoch milliseconds by the clock of Redis. */
  readonly deaths: ReadonlyMap<string, number>
  /** Workers that did not end in order when they were told to. */
  readonly untidy: readonly FleetWorker[]
  readonly keysLeft: number
}

/** Everything that has to hold, and whether it does. */
export const checkAll = (evidence: Evidence): Check[] => [
  hashes(evidence),
  once(evidence),
  recovery(evidence),
  ...LANE_TYPES.flatMap((type) => cap(evidence, type)),
  emptiness(evidence),
  tidiness(evidence),
]

const hashes = ({ results, hashedBy }: Evidence): Check => {
  const count = (verdict: TaskResult['verdict']): number => results.filter((one) => one.verdict === verdict).length
  const aside = (['unreadable', 'changed'] as const)
    .filter((verdict) => count(verdict) > 0)
    .map((verdict) => `; ${count(verdict)} ${verdict}`)
  return {
    isOk: count('wrong') === 0,
    text: `SHA-256 as computed by ${hashedBy}: ${count('equal')} of ${countOf(results.length, 'file')}${aside.join('')}`,
  }
}

const attemptsOf = (row: Task | undefined) => row?.attempts ?? []

const once = ({ results }: Evidence): Check => {
  const wins = (row: Task | undefined): number => attemptsOf(row).filter(({ status }) => status === 'succeeded').length
  const ended = results.filter(({ row }) => row && wins(row) === (row.status === 'succeeded' ? 1 : 0))
  const succeeded = results.filter(({ result }) => result !== undefined).length
  const isOk = ended.length === results.length && results.every(({ row }) => row && isOver(row))
  return {
    isOk,
    text: `${countOf(succeeded, 'task')} succeeded, each exactly once; ${results.length - succeeded} failed`,
  }
}

const isOver = ({ status }: Task): boolean => status === 'succeeded' || status === 'failed'

const recovery = ({ results, loss }: Evidence): Check => {
  if (!loss) return { isOk: true, text: 'no worker was killed: none was busy for long enough' }
  const held = results.filter(({ submitted }) => loss.taskIds.includes(submitted.taskId))
  const timedOut = held.filter(({ row }) => attemptsOf(row).some(isLostBy(loss)))
  return {
    isOk: timedOut.length > 0 && held.every(({ row }) => row && isOver(row)),
    text: `${countOf(timedOut.length, 'task')} of the killed worker: attempt timed-out, then ended on others`,
  }
}

/** Tells attempts that ended with the killed worker. */
export const isLostBy =
  ({ workerId }: Loss) =>
  (attempt: { readonly workerId: string; readonly status: string }): boolean =>
    attempt.workerId === workerId && attempt.status === 'timed-out'

/** Measured by the attempts of all rows. An attempt of a dead worker ended with its worker, not when that was noticed. */
const cap = ({ results, deaths }: Evidence, type: LaneType): Check[] => {
  const limit = CONCURRENCY_LIMITS[type]
  if (limit === undefined) return []
  const runs = results
    .filter(({ submitted }) => submitted.planned.type === type)
    .flatMap(({ row }) => attemptsOf(row))
    .map(({ startedAt, finishedAt, status, workerId }) => {
      const end = finishedAt === undefined ? Infinity : Date.parse(finishedAt)
      const death = status === 'timed-out' ? deaths.get(workerId) : undefined
      return [Date.parse(startedAt), Math.min(end, death ?? Infinity)] as const
    })
  const most = mostAtOnce(runs)
  return [
    { isOk: most <= limit, text: `at most ${most} ${type} ran at once in the whole fleet; the limit is ${limit}` },
  ]
}

const emptiness = ({ lanes, leftovers: { places, dead } }: Evidence): Check => {
  const sum = (pick: (lane: LaneState) => number): number => lanes.reduce((all, lane) => all + pick(lane), 0)
  return {
    isOk: isIdle(lanes) && places === 0 && dead === 0,
    text:
      `streams hold ${sum(({ entries }) => entries)} entries, ${sum(({ running }) => running)} pending; ` +
      `${sum(({ parked }) => parked)} parked, ${places} places taken, ${dead} set aside`,
  }
}

const tidiness = ({ untidy, keysLeft }: Evidence): Check => ({
  isOk: untidy.length === 0 && keysLeft === 0,
  text:
    untidy.length === 0
      ? `the remaining workers ended in order; ${keysLeft} keys are left in Redis`
      : `not ended in order: ${untidy.map(({ name }) => name).join(', ')}; ${keysLeft} keys are left in Redis`,
})
