import type { Task } from '@furystack/task-runner'

import type { ChaosLine, LineOf } from '../history/chaosLine.js'
import { RUNNER_OPTIONS } from '../run/settings.js'
import { groupBy } from './groupBy.js'
import type { FinalState } from '../world/finalState.js'
import type { TaskType } from '../world/planTask.js'

/** Everything the checker is told. */
export interface Evidence {
  readonly lines: readonly ChaosLine[]
  readonly state: FinalState
}

/** One run of a handler, from its first line to its last. */
export interface Run {
  readonly taskId: string
  readonly attempt: number
  readonly type: TaskType
  readonly ref: string
  readonly nonce: string
  readonly by: string
  readonly from: number
  /** When its handler was done, gave its slot back to wait, or died with its process; Infinity if that was never told. */
  to: number
  how: LineOf<'end'>['how'] | 'awaiting' | 'died' | 'open'
  signalAt?: number
  resumedAt?: number
  children?: readonly string[]
}

/** One life of a process. */
export interface Life {
  readonly by: string
  readonly from: number
  readonly to: number
  readonly isMeant: boolean
  readonly how: string
}

/** A span in which something stood in the way of a process, or of all. */
export interface Disturbance {
  readonly from: number
  readonly to: number
  /** A life, or `all`. */
  readonly by: string
  readonly name: string
}

/** The evidence, in the order of what is asked of it. */
export interface Readings extends Evidence {
  readonly rows: ReadonlyMap<string, Task>
  readonly runs: readonly Run[]
  /** By task, in the order of their attempts. */
  readonly runsOf: (taskId: string) => readonly Run[]
  readonly lives: ReadonlyMap<string, Life>
  /** Those that stand in anybody's way. */
  readonly faults: readonly Disturbance[]
  readonly losses: ReadonlyArray<LineOf<'loss'>>
  readonly workerOf: ReadonlyMap<string, LineOf<'ready'>>
  readonly of: <K extends ChaosLine['kind']>(kind: K) => ReadonlyArray<LineOf<K>>
  /**
   * Whether anything may have kept the process from Redis, or from its work, at any time in between, or may be felt there
   * still.
   */
  readonly wasDisturbed: (from: number, to: number, by: string) => boolean
  /** The same of anybody else. */
  readonly wereOthersDisturbed: (from: number, to: number, by: string) => boolean
  /** Whether what was begun at that time may have been lost, or have gone back to what it was. */
  readonly mayBeLost: (at: number, what?: 'everything' | 'newest') => boolean
}

/** What a fault has stopped is on its feet again after this: connections are replaced, claims have become stale. */
const AFTERMATH_MS = RUNNER_OPTIONS.visibilityTimeoutMs + 1_500

/** Puts the evidence in order. */
export const readingsOf = ({ lines, state }: Evidence): Readings => {
  const of = <K extends ChaosLine['kind']>(kind: K): LineOf<K>[] =>
    lines.filter((line): line is LineOf<K> => line.kind === kind)
  const lives = livesOf(of)
  const runs = runsIn(lines, lives)
  const byTask = groupBy(runs, ({ taskId }) => taskId)
  for (const list of byTask.values()) list.sort((a, b) => a.attempt - b.attempt || a.from - b.from)
  const faults = faultsOf(of)
  const stalls = of('stall').map(({ at, by, ms }): Disturbance => ({
    from: at - ms,
    to: at,
    by: by === 'executioner' ? 'all' : by,
    name: 'a stall',
  }))
  const disturbances = [...faults, ...stalls]
  const within = (from: number, to: number): Disturbance[] =>
    disturbances.filter((one) => one.from <= to && one.to + AFTERMATH_MS >= from)
  const losses = of('loss')
  return {
    lines,
    state,
    rows: new Map(state.rows.map((row) => [row.id, row])),
    runs,
    runsOf: (taskId) => byTask.get(taskId) ?? [],
    lives,
    faults,
    losses,
    workerOf: new Map(of('ready').map((line) => [line.workerId, line])),
    of,
    wasDisturbed: (from, to, by) => within(from, to).some((one) => one.by === 'all' || one.by === by),
    wereOthersDisturbed: (from, to, by) => within(from, to).some((one) => one.by !== by),
    mayBeLost: (at, what) =>
      losses.some((loss) =>
        loss.what === 'everything'
          ? what !== 'newest' && at <= loss.at
          : what !== 'everything' && at <= loss.at && at >= loss.startedAt,
      ),
  }
}

type Of = <K extends ChaosLine['kind']>(kind: K) => Array<LineOf<K>>

const livesOf = (of: Of): Map<string, Life> => {
  const ends = new Map(of('ended').map((line) => [line.process, line]))
  // Whoever killed himself was dead a while before anybody noticed.
  const poisoned = new Map(of('run').flatMap(({ by, at, type }) => (type === 'poison' ? [[by, at + 1]] : [])))
  return new Map(
    of('started').map(({ at, process }) => {
      const { at: to = Infinity, isMeant = false, how = 'never ended' } = ends.get(process) ?? {}
      const killedAt = isMeant ? undefined : poisoned.get(process)
      return [process, { by: process, from: at, to: Math.min(to, killedAt ?? Infinity), isMeant, how }]
    }),
  )
}

const runsIn = (lines: readonly ChaosLine[], lives: ReadonlyMap<string, Life>): Run[] => {
  const runs: Run[] = []
  const open = new Map<string, Run>()
  for (const line of lines) {
    if (line.kind === 'run') {
      const { taskId, attempt, type, ref, nonce, by, at } = line
      const to = lives.get(by)?.to ?? Infinity
      const run: Run = { taskId, attempt, type, ref, nonce, by, from: at, to, how: to === Infinity ? 'open' : 'died' }
      runs.push(run)
      open.set(`${by} ${taskId} ${attempt}`, run)
      continue
    }
    if (!('attempt' in line)) continue
    const run = open.get(`${line.by} ${line.taskId} ${line.attempt}`)
    if (!run) continue
    if (line.kind === 'signal') run.signalAt = line.at
    if (line.kind === 'awaiting') Object.assign(run, { to: line.at, how: 'awaiting', children: line.children })
    if (line.kind === 'resumed')
      Object.assign(run, { to: lives.get(line.by)?.to ?? Infinity, how: 'open', resumedAt: line.at })
    if (line.kind === 'end') Object.assign(run, { to: line.at, how: line.how })
  }
  return runs
}

const faultsOf = (of: Of): Disturbance[] => {
  const lines = of('fault')
  return lines
    .filter(({ phase, isHarmless = false }) => phase === 'begins' && !isHarmless)
    .flatMap(({ at: from, id, name, targets }) => {
      const to = lines.find((line) => line.id === id && line.phase === 'ends')?.at ?? Infinity
      const victims = targets === 'all' ? (['all'] as const) : targets
      return victims.map((by): Disturbance => ({ from, to, by, name }))
    })
}
