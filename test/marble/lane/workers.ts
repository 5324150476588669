import {
  asyncScheduler,
  concatMap,
  defer,
  interval,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  take,
  takeUntil,
  timer,
} from 'rxjs'

import {
  type Claim,
  type Lane,
  laneBook,
  type LaneBookOptions,
  type LaneEvent,
  type LanePort,
  workLanes,
  type WorkLanesOptions,
} from '../../../src/index.js'

/** What one worker of a test did, with the virtual time of each. */
export interface WorkerLog {
  readonly started: [taskId: string, atMs: number][]
  readonly events: LaneEvent[]
  /** The most claims that were open at once. */
  most: number
}

export interface WorkerOptions extends Partial<Omit<WorkLanesOptions<string>, 'port' | 'slots' | 'book'>> {
  readonly slots?: number
  readonly types?: readonly string[]
  readonly tags?: readonly string[]
  readonly visibilityTimeoutMs?: number
  readonly cap?: number
  readonly workMs?: number | ((taskId: string) => number)
  readonly versions?: LaneBookOptions['compatibleVersions']
}

/** A worker whose works take `workMs`, settle their claim and emit the task's id. */
export const workerOn = (
  port: LanePort,
  options: WorkerOptions = {},
): { task$: Observable<string>; log: WorkerLog } => {
  const { workerId = 'w', slots = 1, types = ['mail'], tags = [], versions = {}, workMs = 10, ...rest } = options
  const { visibilityTimeoutMs = 60_000, cap, ...settings } = rest
  const log: WorkerLog = { started: [], events: [], most: 0 }
  let open = 0
  const work = (claim: Claim): Observable<string> =>
    defer(() => {
      log.started.push([claim.taskId, asyncScheduler.now()])
      log.most = Math.max(log.most, ++open)
      const lastsMs = typeof workMs === 'number' ? workMs : workMs(claim.taskId)
      return (lastsMs === 0 ? of(0) : timer(lastsMs)).pipe(
        concatMap(() => {
          open--
          return port.settle(claim, { kind: 'done' })
        }),
        map(() => claim.taskId),
      )
    })
  const task$ = workLanes({
    port,
    workerId,
    slots: Array.from({ length: slots }, (_, index) => `${workerId}-slot-${String(index)}`),
    book: laneBook({
      types,
      tags,
      compatibleVersions: versions,
      visibilityTimeoutMs: () => visibilityTimeoutMs,
      cap: () => cap,
    }),
    work,
    stop$: NEVER,
    report: (event) => {
      log.events.push(event)
    },
    blockMs: 200,
    schedulerIntervalMs: 250,
    retryBackoffMs: 100,
    random: () => 0.5,
    ...settings,
  })
  return { task$, log }
}

/** Looks at something each millisecond of virtual time, and gives all that was seen. */
export const watched = <T>(forMs: number, look: () => T): T[] => {
  const seen: T[] = []
  interval(1)
    .pipe(take(forMs))
    .subscribe(() => seen.push(look()))
  return seen
}

/** Enqueues tasks at once, which needs a port that answers at once or does not need to be waited for. */
export const fill = (port: LanePort, of: Lane, ...taskIds: string[]): void => {
  for (const taskId of taskIds) port.enqueue({ taskId, lane: of }).subscribe()
}

export const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index)}`)

/** Does something at a point in virtual time. */
export const at = (ms: number, work: () => Observable<unknown>): void => {
  timer(ms).pipe(concatMap(work)).subscribe()
}

/** Lets workers run for so long in virtual time, then leaves them; gives what they emitted, with the time of each. */
export const runFor = (ms: number, flush: () => void, ...tasks: Observable<string>[]): [string, number][] => {
  const emitted: [string, number][] = []
  merge(...tasks)
    // Half a millisecond apart from everything else, so that leaving them coincides with nothing.
    .pipe(takeUntil(timer(ms + 0.5)))
    .subscribe((taskId) => emitted.push([taskId, asyncScheduler.now()]))
  flush()
  return emitted
}

export const taskIdsOf = (emitted: readonly [string, number][]): string[] => emitted.map(([taskId]) => taskId)
