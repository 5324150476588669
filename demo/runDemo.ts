import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WriteStream } from 'node:tty'
import { Board } from './board.js'
import { checkAll } from './checks.js'
import { openDisplay } from './display/openDisplay.js'
import { DemoError, messageOf } from './errors.js'
import { type FileListing, listFiles } from './files.js'
import { Fleet } from './fleet.js'
import { countOf } from './format.js'
import { hashIndependently } from './independentHashes.js'
import { killBusyWorker, type Loss } from './killBusyWorker.js'
import { readLanes, readLeftovers } from './laneState.js'
import { Narrator } from './narrator.js'
import { type DemoRedis, openRedis } from './openRedis.js'
import { type Plan, planTasks } from './plan.js'
import type { Outcome } from './report.js'
import { compareResults } from './results.js'
import { KILL_AT, SLOTS, WORKERS } from './settings.js'
import { openSubmitter, type SubmittedTask } from './submitTasks.js'
import { within } from './within.js'

/**
 * Hashes the files of a folder by tasks, kills a worker in the middle, and checks everything. `undefined`: there are no
 * files. Whatever it starts has ended when it is over, however that comes about.
 */
export const runDemo = async (
  target: string,
  stdout: WriteStream,
  signal: AbortSignal,
): Promise<Outcome | undefined> => {
  const listing = await listFiles(target)
  if (listing.files.length === 0) return undefined
  const plan = planTasks(listing.files)

  await using redis = await openRedis()
  signal.throwIfAborted()
  const board = boardFor(listing, plan, redis)
  using _display = openDisplay(board, stdout)
  const narrator = new Narrator(board)
  await using fleet = new Fleet(WORKERS, redis, narrator)
  board.workers = fleet.workers
  await using submitter = openSubmitter(redis, signal)

  await allReady(fleet, signal)
  const submitted: SubmittedTask[] = []
  board.phase = 'submitting'
  const submission = submitter.submit(listing.folder, plan, (task) => {
    submitted.push(task)
    board.addTask(task.taskId, task.planned.type, task.planned.file.path)
  })
  const loss = await watch({ board, fleet, narrator, redis, submission, signal })
  const { seconds } = board

  board.phase = 'checking'
  const untidy = await fleet.stop()
  const rows = await submitter.read(submitted.map(({ taskId }) => taskId))
  const paths = submitted.map(({ planned }) => join(listing.folder, planned.file.path))
  const { by, hashes } = await hashIndependently(paths, signal)
  const results = await compareResults(listing.folder, submitted, rows, hashes)
  const lanes = await readLanes(redis.client, redis.prefix)
  const leftovers = await readLeftovers(redis.client, redis.prefix)
  const keysLeft = await redis.removeKeys()
  const deaths = deathsOf(fleet, redis.clockAheadMs)
  const checks = checkAll({ results, hashedBy: by, loss, lanes, leftovers, deaths, untidy, keysLeft })
  return { results, fleet, loss, remarks: listing.remarks, checks, seconds }
}

const boardFor = ({ folder, files }: FileListing, plan: Plan, { description }: DemoRedis): Board =>
  new Board(
    `SHA-256 and gzip of ${countOf(files.length, 'file')} in ${folder}, ${description}`,
    `${WORKERS} workers of ${SLOTS} slots; ` +
      (plan.slowdownMs > 0 ? `each task is slowed down by ${plan.slowdownMs} ms to be seen` : 'nothing is slowed down'),
    plan,
  )

const START_MS = 30_000

const allReady = async ({ workers }: Fleet, signal: AbortSignal): Promise<void> => {
  const until = performance.now() + START_MS
  while (workers.some(({ state }) => state === 'starting')) {
    if (performance.now() > until) throw new DemoError(`Not all workers were ready after ${START_MS / 1_000} s`)
    await sleep(20, undefined, { signal })
  }
}

interface Watch {
  readonly board: Board
  readonly fleet: Fleet
  readonly narrator: Narrator
  readonly redis: DemoRedis
  /** Resolves when the last task is submitted. */
  readonly submission: Promise<void>
  readonly signal: AbortSignal
}

const LOOK_MS = 50
/** How long Redis may be away, and how long nothing may happen. */
const PATIENCE_MS = 15_000

/** Follows the lanes until they are empty; kills a worker on the way. */
const watch = async ({ board, fleet, narrator, redis, submission, signal }: Watch): Promise<Loss | undefined> => {
  let loss: Loss | undefined
  let failure: DemoError | undefined
  submission.catch((error: unknown) => {
    failure = new DemoError(`Tasks cannot be submitted: ${messageOf(error)}`)
  })
  let answeredAt = performance.now()

  for (;;) {
    signal.throwIfAborted()
    if (failure) throw failure
    try {
      await board.look(() => within(readLanes(redis.client, redis.prefix), { ms: 5_000, what: 'Asking Redis', signal }))
      answeredAt = performance.now()
      if (!loss && fleet.done >= Math.floor(board.total * KILL_AT)) {
        loss = await killBusyWorker(fleet, redis)
        if (loss) narrator.onKill(loss)
      }
    } catch (error) {
      signal.throwIfAborted()
      if (performance.now() - answeredAt > PATIENCE_MS)
        throw new DemoError(`Redis does not answer any more: ${messageOf(error)}`)
      narrator.onTrouble(`Redis does not answer: ${messageOf(error)}`)
    }
    if (board.isDone) return loss
    if (board.isSubmitted) board.phase = 'running'
    if (fleet.alive.length === 0) throw new DemoError('No worker is left to run the tasks.')
    if (performance.now() - narrator.heardAt > PATIENCE_MS)
      throw new DemoError(`Nothing has happened for ${PATIENCE_MS / 1_000} s.`)
    await sleep(LOOK_MS, undefined, { signal })
  }
}

/** When workers ended before their time, by the clock of Redis. */
const deathsOf = ({ workers }: Fleet, clockAheadMs: number): Map<string, number> =>
  new Map(
    workers.flatMap(({ workerId, diedAt }): [string, number][] =>
      workerId !== undefined && diedAt !== undefined ? [[workerId, diedAt + clockAheadMs]] : [],
    ),
  )
