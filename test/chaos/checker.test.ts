import { describe, expect, it } from 'vitest'

import { check, CHECKS, type Guarantee } from './checker/check.js'
import { addTask, type Forged, healthy, START } from './checker/forged.js'
import { SLOTS } from './run/settings.js'

const done = { how: 'returned', status: 'succeeded' } as const
const isOf =
  (taskId: string, kind?: string) =>
  (line: object): boolean =>
    'taskId' in line && line.taskId === taskId && (kind === undefined || ('kind' in line && line.kind === kind))
const withoutRow = (forged: Forged, id: string): void => {
  forged.state.rows = forged.state.rows.filter((row) => row.id !== id)
}

type Forgery = readonly [guarantee: Guarantee, what: string, words: RegExp, change: (forged: Forged) => void]

const FORGERIES: readonly Forgery[] = [
  ['G1', 'a task that is gone', /not there in the end/, (forged) => withoutRow(forged, 'healed')],
  [
    'G1',
    'a task that is stuck',
    /is pending in the end/,
    (forged) => {
      Object.assign(forged.row('healed'), { status: 'pending', attempts: [], result: undefined })
      forged.drop(isOf('healed', 'run'))
      addTask(forged, {
        id: 'other',
        type: 'quick',
        at: 13_000,
        runs: [{ by: 'w2.0', from: 13_100, to: 13_110, ...done }],
      })
    },
  ],
  [
    'G1',
    'a task of which nothing is kept, and which was never run to its end',
    /not there in the end/,
    (forged) => {
      addTask(forged, {
        id: 'gone',
        type: 'fleeting',
        at: 13_000,
        runs: [{ by: 'w2.0', from: 13_200, to: 13_210, how: 'stopped', status: 'released' }],
      })
      withoutRow(forged, 'gone')
    },
  ],
  [
    'G1',
    'a draft that was started, and stays one',
    /is draft in the end/,
    (forged) => {
      Object.assign(forged.row('draft'), { status: 'draft', attempts: [], result: undefined })
      forged.drop(isOf('draft', 'run'))
    },
  ],
  [
    'G2',
    'an Observable that is not left',
    /went on with attempt 1, an Observable that was to stop/,
    (forged) => {
      forged.drop(isOf('observed', 'end'))
      forged.note(23_000, 'w2.0', { kind: 'end', taskId: 'observed', attempt: 1, how: 'returned' })
    },
  ],
  [
    'G2',
    'an attempt that two have run',
    /attempt 1 was run by w2.0 and w1.1/,
    (forged) =>
      forged.note(13_105, 'w1.1', {
        kind: 'run',
        taskId: 'healed',
        attempt: 1,
        type: 'quick',
        ref: 's1.0:healed',
        nonce: 'x',
      }),
  ],
  [
    'G2',
    'the result of an owner that had lost the task',
    /result is that of attempt 1, while attempt 3/,
    (forged) => Object.assign(forged.row('flaky'), { result: { ref: 's1.0:flaky', nonce: 'flaky#1' } }),
  ],
  [
    'G2',
    'a result of nobody',
    /that of no run/,
    (forged) => Object.assign(forged.row('quick'), { result: { ref: 's1.0:quick', nonce: 'made up' } }),
  ],
  [
    'G2',
    'an attempt after a success',
    /2 attempts of a succeeded task succeeded/,
    (forged) => {
      const { attempts } = forged.row('flaky')
      Object.assign(attempts[1] as object, { status: 'succeeded' })
    },
  ],
  [
    'G2',
    'an attempt that never ends',
    /attempt 1 is in progress in the end/,
    (forged) => Object.assign(forged.row('cap-1').attempts[0] as object, { status: 'in-progress' }),
  ],
  [
    'G2',
    'a late owner that nobody tells',
    /was not told that attempt 2 had begun/,
    (forged) => {
      forged.note(17_000, 'w2.0', { kind: 'stall', ms: 900 })
      addTask(forged, {
        id: 'late owner',
        type: 'slow',
        at: 16_000,
        runs: [
          { by: 'w2.0', from: 16_010, to: 26_900, how: 'returned', status: 'timed-out' },
          { by: 'w1.1', from: 20_600, to: 20_700, ...done },
        ],
      })
      Object.assign(forged.row('late owner').attempts[0] as object, {
        finishedAt: new Date(START + 20_599).toISOString(),
      })
    },
  ],
  [
    'G3',
    'more handlers than slots',
    /more than 4 handlers at once/,
    (forged) => {
      for (let n = 0; n <= SLOTS; n++)
        addTask(forged, {
          id: `crowd-${n}`,
          type: 'quick',
          at: 13_500,
          runs: [{ by: 'w2.0', from: 13_600 + n, to: 13_700, ...done }],
        })
    },
  ],
  [
    'G3',
    'claims that are hoarded',
    /had 6 entries pending/,
    (forged) => {
      const consumers = { 'worker-w2.0-slot-0': 1, 'worker-w2.0-slot-1': 5 }
      for (const at of [20_000, 20_500])
        forged.note(at, 'executioner', { kind: 'pending', startedAt: START + at, consumers })
    },
  ],
  [
    'G3',
    'a claim more than there are slots, in whichever of them',
    /had 5 entries pending, with 4 slots/,
    (forged) => {
      const consumers = Object.fromEntries([2, 1, 1, 1].map((count, slot) => [`worker-w2.0-slot-${slot}`, count]))
      for (const at of [20_000, 20_500])
        forged.note(at, 'executioner', { kind: 'pending', startedAt: START + at, consumers })
    },
  ],
  [
    'G4',
    'a third holder of two places',
    /3 tasks of type capped ran at once/,
    (forged) =>
      addTask(forged, { id: 'cap-4', type: 'capped', at: 480, runs: [{ by: 'w2.0', from: 500, to: 520, ...done }] }),
  ],
  [
    'G5',
    'a task that is early by a millisecond',
    /1 ms before its time/,
    (forged) =>
      addTask(forged, {
        id: 'early',
        type: 'quick',
        at: 14_000,
        notBefore: 14_500,
        runs: [{ by: 'w2.0', from: 14_499, to: 14_600, ...done }],
      }),
  ],
  [
    'G5',
    'a retry whose pause is not over',
    /retried after 177 ms, not after 200/,
    (forged) =>
      addTask(forged, {
        id: 'hasty',
        type: 'flaky',
        at: 14_000,
        runs: [
          { by: 'w2.0', from: 14_010, to: 14_020, how: 'threw', status: 'failed' },
          { by: 'w2.0', from: 14_199, to: 14_210, ...done },
        ],
      }),
  ],
  [
    'G5',
    'a task that was run, and says it was not',
    /was run, and has expired unrun/,
    (forged) =>
      addTask(forged, {
        id: 'late',
        type: 'late',
        at: 14_000,
        status: 'failed',
        error: 'TaskExpiredError',
        runs: [{ by: 'w2.0', from: 14_700, to: 14_710, how: 'threw', status: 'failed' }],
      }),
  ],
  [
    'G5',
    'a draft that is run before anybody starts it',
    /was run, and nobody had started it/,
    (forged) => {
      forged.drop((line) => line.kind === 'starting')
      forged.note(19_511, 's1.0', { kind: 'starting', ref: 's1.0:draft', taskId: 'draft' })
    },
  ],
  [
    'G5',
    'a retry that is hasty after it was sent again',
    /retried after 79 ms, not after 200/,
    (forged) => {
      const row = forged.row('risen')
      Object.assign(row, { events: [{ ...row.events[0], attempts: 3 }] })
      Object.assign(row.attempts[4] as object, { startedAt: new Date(START + 21_590).toISOString() })
    },
  ],
  [
    'G6',
    'a dead worker whose task is forgotten',
    /taken over 8090 ms later/,
    (forged) => {
      forged.note(17_900, 'executioner', { kind: 'started', process: 'w3.0', pid: 1 })
      forged.note(18_010, 'executioner', { kind: 'ended', process: 'w3.0', how: 'SIGKILL', isMeant: true })
      addTask(forged, {
        id: 'orphan',
        type: 'slow',
        at: 17_990,
        runs: [
          { by: 'w3.0', from: 18_000, status: 'timed-out' },
          { by: 'w2.0', from: 26_100, to: 26_150, ...done },
        ],
      })
    },
  ],
  [
    'G6',
    'a live handler that is taken for dead',
    /w2.0 was well, and attempt 1 was taken from it/,
    (forged) => {
      addTask(forged, {
        id: 'robbed',
        type: 'slow',
        at: 16_000,
        runs: [
          { by: 'w2.0', from: 16_010, to: 18_000, how: 'stopped', status: 'timed-out' },
          { by: 'w2.0', from: 18_002, to: 18_100, ...done },
        ],
      })
    },
  ],
  [
    'G7',
    'a call that hangs',
    /had to wait 30000 ms/,
    (forged) =>
      forged.note(23_000, 's1.0', {
        kind: 'refused',
        call: 'get',
        startedAt: START - 7_000,
        error: 'E',
        effect: 'excluded',
      }),
  ],
  [
    'G7',
    'a call that hangs for longer than the machine stood still',
    /had to wait 12000 ms/,
    (forged) => {
      forged.note(20_000, 's1.0', { kind: 'stall', ms: 3_000 })
      forged.note(23_000, 's1.0', {
        kind: 'refused',
        call: 'start',
        startedAt: START + 11_000,
        error: 'E',
        effect: 'unknown',
      })
    },
  ],
  [
    'G7',
    'a dead letter that takes for ever to be sent again',
    /had to wait 20000 ms until a call was resent/,
    (forged) => {
      forged.drop((line) => line.kind === 'resent')
      forged.note(21_595, 's1.0', { kind: 'resent', taskId: 'risen', startedAt: START + 1_595 })
    },
  ],
  [
    'G7',
    'a connection that is never made again',
    /could not reach a server that nothing stood before/,
    (forged) =>
      forged.note(20_000, 's1.0', {
        kind: 'refused',
        call: 'get',
        startedAt: START + 19_900,
        error: 'RedisUnavailableError: x',
        effect: 'excluded',
      }),
  ],
  [
    'G7',
    'a call that never settles',
    /never been told what became of lost/,
    (forged) => forged.note(20_000, 's1.0', { kind: 'submitting', ref: 'lost', type: 'quick' }),
  ],
  [
    'G7',
    'an error of any kind',
    /does not tell its effect/,
    (forged) =>
      forged.note(20_000, 's1.0', { kind: 'refused', call: 'get', startedAt: START + 19_900, error: 'TypeError: x' }),
  ],
  [
    'G7',
    'an effect of what had none',
    /was run, although its submission had no effect/,
    (forged) => {
      forged.drop(isOf('healed', 'submitted'))
      forged.note(13_050, 's1.0', {
        kind: 'rejected',
        ref: 's1.0:healed',
        startedAt: START + 13_000,
        error: 'E',
        effect: 'excluded',
      })
    },
  ],
  [
    'G7',
    'a fault from which nobody recovers',
    /nothing was run for 15000 ms after a cut/,
    (forged) => {
      forged.drop((line) => line.kind === 'drained' || line.kind === 'idle' || (line.kind === 'ended' && line.isMeant))
      forged.note(30_000, 'executioner', { kind: 'fault', phase: 'begins', id: 2, name: 'a cut', targets: 'all' })
      forged.note(30_001, 'executioner', { kind: 'fault', phase: 'ends', id: 2, name: 'a cut', targets: 'all' })
      for (let n = 0; n < 5; n++)
        addTask(forged, {
          id: `slack-${n}`,
          type: 'quick',
          at: 31_000 + n,
          runs: [{ by: 'w2.0', from: 50_000, to: 50_010, ...done }],
        })
      forged.drop((line) => line.kind === 'run' && line.taskId.startsWith('slack') && line.taskId !== 'slack-0')
      forged.state.rows = forged.state.rows.filter(({ id }) => !/^slack-[1-4]$/.test(id))
      forged.note(60_000, 'executioner', { kind: 'loss', startedAt: START + 60_000, what: 'everything' })
    },
  ],
  [
    'G7',
    'an exception that nobody caught',
    /w2.0: boom/,
    (forged) => forged.note(20_000, 'w2.0', { kind: 'uncaught', error: 'boom' }),
  ],
  [
    'G7',
    'a process that gives up',
    /w9.0 ended by itself: code 1/,
    (forged) => {
      forged.note(20_000, 'executioner', { kind: 'started', process: 'w9.0', pid: 1 })
      forged.note(21_000, 'executioner', { kind: 'ended', process: 'w9.0', how: 'code 1', isMeant: false })
    },
  ],
  [
    'G8',
    'something that lies about',
    /left in the end: 3 in tasks:scheduler/,
    (forged) => forged.state.leftovers.push('3 in tasks:scheduler'),
  ],
  [
    'G8',
    'a consumer of a worker that has drained',
    /w2.0 has left the consumer/,
    (forged) => forged.state.consumers.push('worker-w2.0-slot-1'),
  ],
  [
    'G9',
    'workers that spin',
    /1 idle workers sent 400.0 commands/,
    (forged) =>
      forged.note(26_900, 'executioner', { kind: 'idle', perSecond: 400, workers: 1, counts: { EVALSHA: 1_200 } }),
  ],
  [
    'G9',
    'one worker of several that never comes to rest',
    /3 idle workers sent 46.0 commands/,
    (forged) =>
      forged.note(26_900, 'executioner', { kind: 'idle', perSecond: 46, workers: 3, counts: { EVALSHA: 138 } }),
  ],
  [
    'G10',
    'a dead letter that two have sent again at the same time',
    /2 were told that they had sent it again, and it was sent again 1 times/,
    (forged) => forged.note(21_596, 's2.0', { kind: 'resent', taskId: 'risen', startedAt: START + 21_590 }),
  ],
  [
    'G10',
    'a dead letter that was sent again to nowhere',
    /was sent again, and never run/,
    (forged) => {
      const row = forged.row('risen')
      row.attempts.pop()
      forged.drop((line) => isOf('risen')(line) && 'attempt' in line && line.attempt === 5)
      Object.assign(row, { status: 'failed', result: undefined })
      forged.state.deadLetters.push('risen')
    },
  ],
  [
    'G10',
    'a dead letter that sends itself again',
    /was sent again, and nobody had asked for it/,
    (forged) => {
      forged.drop(({ kind }) => kind === 'resending' || kind === 'resent')
      forged.drop(isOf('risen', 'seen'))
    },
  ],
  [
    'G10',
    'poison that is given out too often',
    /delivered again after 2 losses, and lost 3 times/,
    (forged) => {
      const { attempts } = forged.row('poison')
      attempts.push({ ...(attempts[1] as (typeof attempts)[number]), attempt: 3 })
    },
  ],
  [
    'G10',
    'a task that is given up too early',
    /failed as lost after 0 losses/,
    (forged) =>
      addTask(forged, {
        id: 'given up',
        type: 'quick',
        at: 14_000,
        status: 'failed',
        error: 'MaxDeliveriesExceededError',
        runs: [],
      }),
  ],
  ['G10', 'a failure that nobody can find', /is no dead letter/, (forged) => forged.state.deadLetters.splice(0)],
  [
    'G10',
    'a dead letter that is well',
    /is a dead letter, and succeeded/,
    (forged) => forged.state.deadLetters.push('quick'),
  ],
  [
    'G11',
    'a parent that is woken twice',
    /suspended 2 times for one wait/,
    (forged) => {
      const row = forged.row('family')
      const [first, last] = row.attempts as [(typeof row.attempts)[number], (typeof row.attempts)[number]]
      row.attempts = [first, { ...first, attempt: 2 }, { ...last, attempt: 3 }]
      Object.assign(row, { result: { ...(row.result as object), nonce: 'family#3' } })
      const at = 2_700
      forged.drop((line) => isOf('family')(line) && 'attempt' in line && line.attempt === 2)
      forged.note(at, 'w2.0', {
        kind: 'run',
        taskId: 'family',
        attempt: 3,
        type: 'family',
        ref: 's1.0:family',
        nonce: 'family#3',
      })
      forged.note(at + 1, 'w2.0', { kind: 'resumed', taskId: 'family', attempt: 3 })
      forged.note(at + 10, 'w2.0', { kind: 'end', taskId: 'family', attempt: 3, how: 'returned' })
    },
  ],
  [
    'G11',
    'a parent that is woken too early',
    /woken before 1 of its children had ended/,
    (forged) => Object.assign(forged.row('child'), { terminalAt: new Date(START + 2_703).toISOString() }),
  ],
  [
    'G11',
    'a child that was made twice',
    /a child was made twice/,
    (forged) => {
      addTask(forged, {
        id: 'twin',
        type: 'child',
        at: 2_521,
        ref: 's1.0:family/1',
        parent: 'family',
        status: 'cancelled',
        runs: [],
      })
      forged.row('family').childTaskIds.push('twin')
      Object.assign(forged.row('family').payload as object, { children: 2 })
    },
  ],
  [
    'G11',
    'a parent that is told twice',
    /told twice of the end/,
    (forged) => {
      const { events } = forged.row('family')
      events.push(...events)
    },
  ],
  [
    'G11',
    'a parent that is told of other ends than there were',
    /was told that nobody had succeeded/,
    (forged) => Object.assign(forged.row('family').result as object, { succeeded: [] }),
  ],
  [
    'G12',
    'a task that is over, and then is not',
    /was succeeded with key#1 for s1.0, then running/,
    (forged) =>
      forged.note(2_400, 's2.0', { kind: 'seen', taskId: 'key', startedAt: START + 2_390, status: 'running' }),
  ],
  [
    'G12',
    'an end that changes',
    /was cancelled for s2.0, and is succeeded/,
    (forged) =>
      forged.note(13_500, 's2.0', { kind: 'seen', taskId: 'healed', startedAt: START + 13_400, status: 'cancelled' }),
  ],
  [
    'G12',
    'a task that is run under the name of another',
    /ran it as s1.0:quick, and it is s1.0:healed/,
    (forged) => {
      const line = forged.lines.find(isOf('healed', 'run'))
      Object.assign(line as object, { ref: 's1.0:quick' })
      forged.note(13_090, 'w2.0', {
        kind: 'run',
        taskId: 'healed',
        attempt: 2,
        type: 'quick',
        ref: 's1.0:healed',
        nonce: 'n',
      })
      forged.drop((other) => 'nonce' in other && other.nonce === 'n')
      addTask(forged, {
        id: 'next',
        type: 'quick',
        at: 13_010,
        runs: [{ by: 'w2.0', from: 13_100, to: 13_110, ...done }],
      })
    },
  ],
  [
    'G12',
    'the result of another task',
    /its result of s1.0:quick, and it is s1.0:slow/,
    (forged) => Object.assign(forged.row('slow').result as object, { ref: 's1.0:quick' }),
  ],
  [
    'G12',
    'a key with two tasks',
    /key-1 is key and other/,
    (forged) =>
      addTask(forged, {
        id: 'other',
        type: 'quick',
        at: 2_200,
        ref: 'key-1',
        key: 'key-1',
        runs: [{ by: 'w2.0', from: 2_210, to: 2_220, ...done }],
      }),
  ],
  [
    'G12',
    'a submission that became two tasks',
    /s1.0:healed is healed and double/,
    (forged) =>
      addTask(forged, {
        id: 'double',
        type: 'quick',
        at: 13_000,
        ref: 's1.0:healed',
        parent: 'none',
        runs: [{ by: 'w2.0', from: 13_200, to: 13_210, ...done }],
      }),
  ],
]

describe('the checker', () => {
  it('has nothing against a history in which all went well', () => {
    expect(check(healthy().evidence())).toEqual([])
  })

  it.each(FORGERIES.map(([guarantee, what, words, change]) => ({ guarantee, what, words, change })))(
    'objects to $what ($guarantee)',
    ({ guarantee, words, change }) => {
      const forged = healthy()
      change(forged)
      const violations = check(forged.evidence())
      expect(violations.map(({ message }) => message).join('\n')).toMatch(words)
      expect([...new Set(violations.map((violation) => violation.guarantee))]).toEqual([guarantee])
    },
  )

  it('is shown a forgery of each guarantee', () => {
    expect(new Set(FORGERIES.map(([guarantee]) => guarantee))).toEqual(new Set(Object.keys(CHECKS)))
  })
})

describe('the checker lets pass', () => {
  it.each<[string, (forged: Forged) => void]>([
    ['what data were lost of, if it was submitted before', (forged) => withoutRow(forged, 'quick')],
    [
      'another task of a key, once the first one was lost',
      (forged) =>
        addTask(forged, {
          id: 'again',
          type: 'quick',
          at: 14_000,
          ref: 'key-1',
          key: 'key-1',
          runs: [{ by: 'w2.0', from: 14_010, to: 14_020, ...done }],
        }),
    ],
    [
      'a draft that nobody has started',
      (forged) => {
        Object.assign(forged.row('draft'), { status: 'draft', attempts: [], result: undefined })
        forged.drop(isOf('draft'))
        forged.note(19_505, 's1.0', {
          kind: 'rejected',
          ref: 's1.0:draft',
          startedAt: START + 19_500,
          error: 'E',
          effect: 'unknown',
        })
      },
    ],
    [
      'a draft that a fail-over has put back',
      (forged) => {
        Object.assign(forged.row('draft'), { status: 'draft', attempts: [], result: undefined })
        forged.drop(isOf('draft', 'run'))
        forged.note(19_600, 'executioner', { kind: 'loss', startedAt: START + 19_400, what: 'newest' })
      },
    ],
    [
      'a claim more than there are slots, for a moment',
      (forged) => {
        const consumers = { 'worker-w2.0-slot-0': 5 }
        forged.note(20_000, 'executioner', { kind: 'pending', startedAt: START + 20_000, consumers })
      },
    ],
    [
      'a cap that is exceeded because a holder stood still',
      (forged) => {
        forged.note(600, 'w1.0', { kind: 'stall', ms: 300 })
        addTask(forged, { id: 'cap-4', type: 'capped', at: 480, runs: [{ by: 'w2.0', from: 500, to: 520, ...done }] })
      },
    ],
    [
      'that nothing is left of what its policy keeps nothing of',
      (forged) => {
        addTask(forged, {
          id: 'gone',
          type: 'fleeting',
          at: 13_000,
          runs: [{ by: 'w2.0', from: 13_200, to: 13_210, ...done }],
        })
        withoutRow(forged, 'gone')
      },
    ],
    [
      'a child that is spawned anew, because a fail-over has forgotten the first one',
      (forged) => {
        forged.note(20_000, 'executioner', { kind: 'loss', startedAt: START + 18_000, what: 'newest' })
        for (const [id, from] of [
          ['forgotten', 19_500],
          ['anew', 20_100],
        ] as const)
          addTask(forged, {
            id,
            type: 'child',
            at: from,
            ref: 's1.0:x/1',
            parent: 'x',
            runs: [{ by: 'w2.0', from, to: from + 10, ...done }],
          })
        withoutRow(forged, 'forgotten')
      },
    ],
    [
      'a task that was over with its dead worker, and was sent again much later',
      (forged) => {
        forged.note(17_900, 'executioner', { kind: 'started', process: 'w3.0', pid: 1 })
        forged.note(18_010, 'executioner', { kind: 'ended', process: 'w3.0', how: 'SIGKILL', isMeant: true })
        addTask(forged, {
          id: 'orphan',
          type: 'slow',
          at: 17_990,
          runs: [
            { by: 'w3.0', from: 18_000, status: 'timed-out' },
            { by: 'w2.0', from: 26_100, to: 26_150, ...done },
          ],
        })
        const at = new Date(START + 26_000).toISOString()
        Object.assign(forged.row('orphan'), { events: [{ kind: 'resent', reason: 'lost', attempts: 1, at }] })
        forged.note(25_990, 's1.0', { kind: 'resending', taskId: 'orphan' })
        forged.note(26_005, 's1.0', { kind: 'resent', taskId: 'orphan', startedAt: START + 25_990 })
      },
    ],
    [
      'an effect of what may have had one',
      (forged) => {
        forged.drop(isOf('healed', 'submitted'))
        forged.note(13_050, 's1.0', {
          kind: 'rejected',
          ref: 's1.0:healed',
          startedAt: START + 13_000,
          error: 'E',
          effect: 'unknown',
        })
        addTask(forged, {
          id: 'next',
          type: 'quick',
          at: 13_010,
          runs: [{ by: 'w2.0', from: 13_100, to: 13_110, ...done }],
        })
      },
    ],
  ])('%s', (_, change) => {
    const forged = healthy()
    change(forged)
    expect(check(forged.evidence())).toEqual([])
  })
})
