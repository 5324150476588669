import { defineTaskHandler, type TaskRunner, type TaskStatus } from '@furystack/task-runner'
import { filter, lastValueFrom, map, tap, toArray } from 'rxjs'
import { afterEach, describe, expect, it } from 'vitest'

import { clockWithoutTimers } from '../support/clockWithoutTimers.js'
import { deferred } from '../support/deferred.js'
import { Link } from '../support/link.js'
import type { MakeRunners } from './runnerSuite.js'

/** The way of a task that succeeds at once. */
const WAY: readonly TaskStatus[] = ['draft', 'pending', 'claimed', 'running', 'succeeded']

const ROUNDS = 60
/** So many turns of the event loop lie between the earliest and the latest moment of a start. */
const TURNS = 30
/** Rounds at once: few enough for a turn to be a short time. */
const AT_ONCE = 4

/** What any task runner has to show to whoever begins to watch a task while it begins and ends elsewhere. */
export const runnerWatchSuite = (name: string, makeRunners: MakeRunners): void => {
  describe(`${name} as a runner of tasks that are watched`, () => {
    const cleanups: Array<() => Promise<void>> = []

    afterEach(async () => {
      for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
    })

    const typeOf = (round: number): string => `mail-${round}`

    /** Runners without a worker. Nobody polls, and each round has a type of its own, so nobody listens yet. */
    const setUp = async (count: number, more: Parameters<MakeRunners>[1] = {}): Promise<TaskRunner[]> => {
      const harness = await makeRunners(count, { clock: clockWithoutTimers, ...more })
      cleanups.push(() => harness.dispose())
      return [...harness.runners]
    }

    const work = (runner: TaskRunner, handler: (round: number) => Promise<unknown>): void => {
      runner.registerWorker({
        name: 'worker',
        handlers: Array.from({ length: ROUNDS }, (_, round) =>
          defineTaskHandler({ type: typeOf(round), version: 1, handler: () => handler(round) }),
        ),
        concurrency: AT_ONCE,
        tags: [],
        compatibleVersions: {},
      })
    }

    /**
     * Goes through all rounds: in each, one runner starts a draft and another begins to watch it, at moments that differ
     * from round to round. Answers what the watchers were given, by round.
     */
    const race = async <T>(starter: TaskRunner, watch: (taskId: string, round: number) => Promise<T>): Promise<T[]> => {
      const given: T[] = []
      const play = async (round: number): Promise<void> => {
        const { id } = await starter.draft({ type: typeOf(round), handlerVersion: 1, payload: 0 })
        const turns = (round % TURNS) - TURNS / 3
        const [answer] = await Promise.all([
          after(-turns, () => watch(id, round)),
          after(turns, () => starter.start(id)),
        ])
        given[round] = answer
      }
      for (let first = 0; first < ROUNDS; first += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => play(first + index)))
      }
      return given
    }

    /** All statuses that a watcher is shown. */
    const statusesOf = (
      runner: TaskRunner,
      taskId: string,
      onStatus: (status: TaskStatus) => void = () => undefined,
    ): Promise<TaskStatus[]> =>
      lastValueFrom(
        runner.updates$(taskId).pipe(
          filter((update) => update.kind === 'status'),
          map(({ status }) => status),
          tap(onStatus),
          toArray(),
        ),
        { defaultValue: [] },
      )

    const wayFrom = (way: readonly TaskStatus[], [first = 'draft']: readonly TaskStatus[]) =>
      way.slice(way.indexOf(first))

    /** When a bus that is another process answers the watcher: so many milliseconds later, each way. */
    const PACES: Array<[string, number]> = [
      ['at once', 0],
      ['late', 5],
    ]

    it.each(PACES)(
      'T59 shows the status, then each transition once and in order, if the bus answers %s',
      async (_, ms) => {
        const busLink = new Link({ latencyMs: () => ms })
        const [watcher, starter] = (await setUp(2, { busLink })) as [TaskRunner, TaskRunner]
        const shown = await race(starter, (taskId) =>
          statusesOf(watcher, taskId, (status) => {
            if (status === 'pending') void starter.cancel(taskId)
          }),
        )
        for (const seen of shown) expect(seen).toEqual(wayFrom(['draft', 'pending', 'cancelled'], seen))
      },
    )

    describe.each([
      ['ends at once', false],
      ['ends when its watcher has been shown it', true],
    ])('T59 shows as much of one that %s', (_, isHeld) => {
      it.each([
        ['in the process of its watcher', 0],
        ['in a third', 2],
      ])('%s, but for pending if the claim is heard of before', async (_where, place) => {
        const held = Array.from({ length: ROUNDS }, () => deferred())
        const runners = await setUp(3)
        const [watcher, starter] = runners as [TaskRunner, TaskRunner]
        work(runners[place]!, (round) => (isHeld ? held[round]!.promise : Promise.resolve()))
        const shown = await race(starter, (taskId, round) => statusesOf(watcher, taskId, () => held[round]!.resolve()))
        for (const seen of shown) {
          const way = wayFrom(WAY, seen)
          expect([way, way.filter((status) => status !== 'pending')]).toContainEqual(seen)
          if (isHeld) expect(seen.length).toBeGreaterThan(1)
        }
      })
    })

    it.each(PACES)('T59 gives whoever waits the result, without another look, if the bus answers %s', async (_, ms) => {
      const busLink = new Link({ latencyMs: () => ms })
      const [watcher, starter] = (await setUp(2, { busLink })) as [TaskRunner, TaskRunner]
      work(starter, (round) => Promise.resolve(round))
      const results = await race(starter, (taskId) => watcher.waitFor<number>(taskId))
      expect(results).toEqual(results.map((__, round) => round))
    })
  })
}

/** Does something so many turns of the event loop from now; at once, if that is over. */
const after = async <T>(turns: number, act: () => Promise<T>): Promise<T> => {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
  return act()
}
