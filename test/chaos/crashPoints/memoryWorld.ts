import { InMemoryBlobStore } from '@furystack/blob-store'
import { InProcessCrossNodeBus } from '@furystack/cross-node-bus'
import { createInjector } from '@furystack/inject'
import {
  type CreateTask,
  InProcessQueueAdapter,
  isTerminalStatus,
  MemoryTaskStore,
  type StoredTask,
  TaskRunnerCore,
  TaskRunnerTelemetry,
  type TaskStore,
} from '@furystack/task-runner'

import { virtualLanePort } from '../../../src/testing/index.js'
import { overLink } from '../../support/link.js'
import { virtualQueueAdapter } from '../../support/virtualQueueAdapter.js'
import type { LogLine, Scenario, Stage } from './scenario.js'
import type { World } from './world.js'

/** Whether the queue ends with its process, or outlives it as a broker does. */
export type QueueKind = 'in the process' | 'of its own'

/** Nothing listens there: whoever plays in memory answers requests itself. */
const ORIGIN = 'http://none'
const VISIBILITY_MS = 1_500

/** A store that knows the ids of its rows. */
const knowingIds = (store: TaskStore, ids: Set<string>): TaskStore => {
  const noting =
    <I, R>(create: (input: I) => Promise<R>, made: (input: I) => readonly CreateTask[]) =>
    (input: I): Promise<R> => {
      for (const { id } of made(input)) ids.add(id)
      return create(input)
    }
  return new Proxy(store, {
    get(of, key): unknown {
      if (key === 'create')
        return noting(
          (input: CreateTask) => of.create(input),
          (input) => [input],
        )
      if (key === 'createMany' && of.createMany)
        return noting(of.createMany.bind(of), (inputs: readonly CreateTask[]) => inputs)
      if (key === 'spawnChild')
        return noting(
          (input: Parameters<TaskStore['spawnChild']>[0]) => of.spawnChild(input),
          (input) => [input.child],
        )
      const member: unknown = Reflect.get(of, key, of)
      return typeof member === 'function' ? (member.bind(of) as unknown) : member
    },
  })
}

export const memoryWorld = (queue: QueueKind, scenario: Pick<Scenario, 'handlers'>): World => {
  const ids = new Set<string>()
  const store = knowingIds(new MemoryTaskStore(), ids)
  const lanes = virtualLanePort()
  const bus = new InProcessCrossNodeBus()
  const log: LogLine[] = []

  const rows = async (): Promise<StoredTask[]> =>
    (await store.getMany([...ids])).flatMap((row) => (row === undefined ? [] : [row]))

  return {
    log,
    start: (link, isFirst = false) => {
      const queueAdapter = queue === 'of its own' ? virtualQueueAdapter(lanes, link) : new InProcessQueueAdapter()
      const runner = new TaskRunnerCore(
        {
          injector: createInjector(),
          bus,
          blobStore: new InMemoryBlobStore(),
          store: overLink(store, link),
          telemetry: new TaskRunnerTelemetry(),
          queueAdapter,
        },
        { capabilityCheck: 'off', reconcilerIntervalMs: 5_000, parkSleepsAfterMs: 50 },
      )
      const write = (line: LogLine): void => {
        if (!link.isDead) log.push(line)
      }
      const stage: Stage = {
        runner,
        log: write,
        isFirst,
        origin: ORIGIN,
        visibilityMs: VISIBILITY_MS,
        work: (concurrency = 1) =>
          runner.registerWorker({
            name: 'worker',
            handlers: scenario.handlers(stage),
            concurrency,
            tags: [],
            compatibleVersions: {},
          }),
        dispose: async () => {
          await runner[Symbol.asyncDispose]()
          await queueAdapter[Symbol.asyncDispose]?.()
        },
      }
      return stage
    },
    rows,
    isOver: async () => (await rows()).every(({ task }) => isTerminalStatus(task.status)),
    outcome: async () => ({ rows: await rows(), log }),
    leftovers: async () => {
      const marked = await store.findUnqueued({ olderThanMs: 0, limit: 100 })
      const orphaned = await store.findOrphaned({ olderThanMs: 0, limit: 100 })
      const known: string[] = []
      lanes.knownLanes().subscribe((found) => {
        for (const lane of found) if (lanes.length(lane) > 0) known.push(`an entry in ${lane.name}`)
      })
      return [
        ...known,
        ...orphaned.map(({ parentId }) => `open children of ${parentId}`),
        ...marked.map(({ task }) => `the mark of ${task.id}`),
        ...lanes.parked().map(() => 'a parked entry'),
        ...lanes.pending().map(() => 'a pending entry'),
      ]
    },
  }
}
