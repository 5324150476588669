import type { AttemptRecord, AttemptStatus, Task, TaskStatus } from '@furystack/task-runner'

import type { ChaosLine } from '../history/chaosLine.js'
import type { Note } from '../history/historyFile.js'
import type { FinalState } from '../world/finalState.js'
import type { TaskType } from '../world/planTask.js'
import type { Evidence } from './readings.js'

/** When forged histories begin. Times in them are milliseconds from here. */
export const START = 1_700_000_000_000

type Changeable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer I)[] ? I[] : T[K] }

/** A history that is made up, to be changed by whoever wants to see what the checker makes of it. */
export interface Forged {
  readonly lines: ChaosLine[]
  readonly state: Changeable<FinalState>
  /** Adds a line, at so many milliseconds. */
  note(at: number, by: string, note: Note): void
  /** Takes lines away. */
  drop(which: (line: ChaosLine) => boolean): void
  /** A row that is there in the end. */
  row(id: string): Task
  /** As the checker takes it, in the order of times. */
  evidence(): Evidence
}

/** What is told of a run that is made up. */
export interface ForgedRun {
  readonly by: string
  readonly from: number
  /** Absent: it died with its process, or waits. */
  readonly to?: number
  readonly how?: 'returned' | 'threw' | 'stopped'
  readonly status: AttemptStatus
}

/** A task that is made up, with all that is written of it. */
export interface ForgedTask {
  readonly id: string
  readonly type: TaskType
  readonly at: number
  readonly ref?: string
  readonly key?: string
  readonly notBefore?: number
  readonly status?: TaskStatus
  readonly error?: string
  readonly runs: readonly ForgedRun[]
  readonly parent?: string
}

const iso = (at: number): string => new Date(START + at).toISOString()

/** Makes up a history; nothing is in it yet. */
export const forge = (): Forged => {
  const lines: ChaosLine[] = []
  const state: Forged['state'] = { rows: [], deadLetters: [], leftovers: [], consumers: [] }
  return {
    lines,
    state,
    note: (at, by, note) => void lines.push({ at: START + at, by, ...note }),
    drop: (which) => {
      const kept = lines.filter((line) => !which(line))
      lines.splice(0, lines.length, ...kept)
    },
    row: (id) => {
      const row = state.rows.find((one) => one.id === id)
      if (!row) throw new Error(`There is no row ${id}`)
      return row
    },
    evidence: () => ({ lines: [...lines].sort((a, b) => a.at - b.at), state }),
  }
}

/** Writes all lines of a task, and its row. */
export const addTask = (forged: Forged, task: ForgedTask): void => {
  const { id, type, at, ref = `s1.0:${id}`, key, notBefore, status = 'succeeded', error, runs, parent } = task
  if (parent === undefined) {
    forged.note(at, 's1.0', {
      kind: 'submitting',
      ref,
      type,
      ...(key !== undefined && { key }),
      ...(notBefore !== undefined && { notBefore: START + notBefore }),
    })
    forged.note(at + 5, 's1.0', { kind: 'submitted', ref, taskId: id, startedAt: START + at })
  }
  const attempts = runs.map((run, index): AttemptRecord => {
    const attempt = index + 1
    const { by, from, to, how, status: ended } = run
    forged.note(from, by, { kind: 'run', taskId: id, attempt, type, ref, nonce: `${id}#${attempt}` })
    if (to !== undefined && how !== undefined) forged.note(to, by, { kind: 'end', taskId: id, attempt, how })
    return { attempt, workerId: by, startedAt: iso(from - 1), finishedAt: iso((to ?? from + 2_000) + 1), status: ended }
  })
  const lastAt = Math.max(at, ...runs.map(({ from, to }) => (to ?? from + 2_000) + 1))
  const row: Partial<Task> = {
    id,
    type,
    status,
    payload: { ref, ms: 0 },
    submittedAt: iso(at + 2),
    terminalAt: iso(lastAt),
    attempts,
    events: [],
    childTaskIds: [],
    ...(status === 'succeeded' && { result: { ref, nonce: `${id}#${attempts.length}` } }),
    ...(error !== undefined && { error: { name: error, message: error } }),
    ...(parent !== undefined && { parentTaskId: parent }),
  }
  forged.state.rows.push(row as Task)
  if (status === 'failed') forged.state.deadLetters.push(id)
}

const done = { how: 'returned', status: 'succeeded' } as const

/** A short run in which all went well, with something of everything. */
export const healthy = (): Forged => {
  const forged = forge()
  for (const by of ['w1.0', 'w1.1', 'w2.0', 's1.0'])
    forged.note(by === 'w1.1' ? 5_100 : 0, 'executioner', { kind: 'started', process: by, pid: 1 })
  for (const by of ['w1.0', 'w1.1', 'w2.0'])
    forged.note(by === 'w1.1' ? 5_200 : 100, by, { kind: 'ready', workerId: `worker-${by}`, slots: 4 })

  addTask(forged, { id: 'quick', type: 'quick', at: 200, runs: [{ by: 'w1.0', from: 210, to: 260, ...done }] })
  addTask(forged, {
    id: 'later',
    type: 'quick',
    at: 300,
    notBefore: 900,
    runs: [{ by: 'w2.0', from: 905, to: 950, ...done }],
  })
  for (const [id, from] of [
    ['cap-1', 400],
    ['cap-2', 450],
    ['cap-3', 610],
  ] as const)
    addTask(forged, { id, type: 'capped', at: 390, runs: [{ by: 'w1.0', from, to: from + 150, ...done }] })
  addTask(forged, {
    id: 'flaky',
    type: 'flaky',
    at: 1_000,
    runs: [
      { by: 'w1.0', from: 1_010, to: 1_020, how: 'threw', status: 'failed' },
      { by: 'w2.0', from: 1_300, to: 1_310, how: 'threw', status: 'failed' },
      { by: 'w2.0', from: 1_800, to: 1_810, ...done },
    ],
  })
  addTask(forged, {
    id: 'key',
    type: 'quick',
    at: 2_000,
    ref: 'key-1',
    key: 'key-1',
    runs: [{ by: 'w2.0', from: 2_010, to: 2_020, ...done }],
  })
  forged.note(2_100, 's1.0', { kind: 'submitting', ref: 'key-1', type: 'quick', key: 'key-1' })
  forged.note(2_105, 's1.0', { kind: 'submitted', ref: 'key-1', taskId: 'key', startedAt: START + 2_100 })
  forged.note(2_300, 's1.0', {
    kind: 'seen',
    taskId: 'key',
    startedAt: START + 2_290,
    status: 'succeeded',
    nonce: 'key#1',
  })

  addTask(forged, {
    id: 'family',
    type: 'family',
    at: 2_500,
    runs: [
      { by: 'w1.0', from: 2_510, status: 'suspended' },
      { by: 'w2.0', from: 2_700, to: 2_710, ...done },
    ],
  })
  addTask(forged, {
    id: 'child',
    type: 'child',
    at: 2_520,
    ref: 's1.0:family/1',
    parent: 'family',
    runs: [{ by: 'w2.0', from: 2_550, to: 2_600, ...done }],
  })
  forged.note(2_530, 'w1.0', { kind: 'awaiting', taskId: 'family', attempt: 1, children: ['child'] })
  forged.note(2_701, 'w2.0', { kind: 'awaiting', taskId: 'family', attempt: 2, children: ['child'] })
  forged.note(2_702, 'w2.0', { kind: 'resumed', taskId: 'family', attempt: 2 })
  Object.assign(forged.row('family'), {
    payload: { ref: 's1.0:family', ms: 0, children: 1 },
    childTaskIds: ['child'],
    events: [{ at: iso(2_601), kind: 'child-completed', childTaskId: 'child', status: 'succeeded' }],
    result: { ref: 's1.0:family', nonce: 'family#2', succeeded: ['s1.0:family/1'] },
  })

  // Worker 1 is killed by its task, which is given to worker 2, and kills that too.
  forged.note(5_010, 'executioner', { kind: 'ended', process: 'w1.0', how: 'SIGKILL', isMeant: false })
  addTask(forged, {
    id: 'poison',
    type: 'poison',
    at: 4_990,
    status: 'failed',
    error: 'MaxDeliveriesExceededError',
    runs: [
      { by: 'w1.0', from: 5_000, status: 'timed-out' },
      { by: 'w1.1', from: 7_100, status: 'timed-out' },
    ],
  })
  forged.note(7_110, 'executioner', { kind: 'ended', process: 'w1.1', how: 'SIGKILL', isMeant: false })

  // Nobody has to answer for what a fault takes.
  forged.note(12_000, 'executioner', { kind: 'fault', phase: 'begins', id: 1, name: 'FLUSHALL', targets: 'all' })
  forged.note(12_010, 'executioner', { kind: 'loss', startedAt: START + 12_000, what: 'everything' })
  forged.note(12_020, 'executioner', { kind: 'fault', phase: 'ends', id: 1, name: 'FLUSHALL', targets: 'all' })
  addTask(forged, {
    id: 'healed',
    type: 'quick',
    at: 13_000,
    runs: [{ by: 'w2.0', from: 13_100, to: 13_110, ...done }],
  })
  addTask(forged, { id: 'slow', type: 'slow', at: 19_000, runs: [{ by: 'w2.0', from: 19_010, to: 22_000, ...done }] })

  // Drafted, started a while later, and run then.
  addTask(forged, { id: 'draft', type: 'quick', at: 19_100, runs: [{ by: 'w2.0', from: 19_510, to: 19_520, ...done }] })
  forged.drop((line) => 'ref' in line && line.ref === 's1.0:draft' && line.by === 's1.0')
  forged.note(19_100, 's1.0', { kind: 'submitting', ref: 's1.0:draft', type: 'quick', isDraft: true })
  forged.note(19_500, 's1.0', { kind: 'starting', ref: 's1.0:draft', taskId: 'draft' })
  forged.note(19_505, 's1.0', { kind: 'submitted', ref: 's1.0:draft', taskId: 'draft', startedAt: START + 19_500 })

  // Told to stop, and left at once.
  addTask(forged, {
    id: 'observed',
    type: 'observed',
    at: 20_000,
    status: 'cancelled',
    runs: [{ by: 'w2.0', from: 20_010, to: 20_500, how: 'stopped', status: 'cancelled' }],
  })
  forged.note(20_499, 'w2.0', { kind: 'signal', taskId: 'observed', attempt: 1, reason: 'TaskCancelledError' })

  // Fails for good, is sent again by one of two who ask for it, and is well then.
  const failed = { how: 'threw', status: 'failed' } as const
  addTask(forged, {
    id: 'risen',
    type: 'flaky',
    at: 20_000,
    runs: [
      { by: 'w2.0', from: 20_010, to: 20_020, ...failed },
      { by: 'w2.0', from: 20_300, to: 20_310, ...failed },
      { by: 'w2.0', from: 20_800, to: 20_810, ...failed },
      { by: 'w2.0', from: 21_500, to: 21_510, ...failed },
      { by: 'w2.0', from: 21_600, to: 21_610, ...done },
    ],
  })
  for (const by of ['s1.0', 's2.0']) forged.note(21_590, by, { kind: 'resending', taskId: 'risen' })
  forged.note(21_595, 's1.0', { kind: 'resent', taskId: 'risen', startedAt: START + 21_590 })
  Object.assign(forged.row('risen'), {
    events: [{ at: iso(21_592), kind: 'resent', reason: 'failed', attempts: 4 }],
  })
  forged.note(21_550, 's1.0', { kind: 'seen', taskId: 'risen', startedAt: START + 21_540, status: 'failed' })

  forged.note(24_000, 's1.0', { kind: 'drained' })
  forged.note(24_010, 'executioner', { kind: 'ended', process: 's1.0', how: 'code 0', isMeant: true })
  forged.note(27_000, 'executioner', { kind: 'idle', perSecond: 8, workers: 1, counts: { BLPOP: 24 } })
  forged.note(27_100, 'w2.0', { kind: 'draining' })
  forged.note(27_200, 'w2.0', { kind: 'drained' })
  forged.note(27_210, 'executioner', { kind: 'ended', process: 'w2.0', how: 'code 0', isMeant: true })
  return forged
}
