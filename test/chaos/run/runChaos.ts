import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { OnFinished } from '../../support/redisServer.js'
import { check, type Violation } from '../checker/check.js'
import { execute } from './executioner.js'
import type { Fault, Scene } from '../faults/fault.js'
import { processFaults } from '../faults/processFaults.js'
import type { ChaosLine } from '../history/chaosLine.js'
import { historyWriter, readHistory } from '../history/historyFile.js'
import { randomOf } from './random.js'
import { DRAIN_LIMIT_MS } from './settings.js'
import type { Backend } from '../world/backend.js'
import { type ChaosProcess, chaosProcess } from '../world/chaosProcess.js'
import { type FinalState, readFinalState, settleDown } from '../world/finalState.js'
import { ending } from '../world/ending.js'
import { measureIdle, startWatching } from '../world/watch.js'

/** A chaos run to be made. */
export interface ChaosOptions {
  readonly seed: string
  readonly backend: () => Promise<Backend>
  /** Every fault comes once at least, however short this is. @default 0 */
  readonly minutes?: number
  /** Which faults of processes, and of the backend. @default all */
  readonly picks?: (fault: Fault) => boolean
  readonly workers?: number
  readonly signal?: AbortSignal
}

/** What came of it. */
export interface ChaosOutcome {
  readonly violations: readonly Violation[]
  readonly lines: readonly ChaosLine[]
  readonly state: FinalState
}

const FINISH_LIMIT_MS = 60_000
const SETTLE_LIMIT_MS = 60_000

/** Makes one run from the first process to the verdict. Whatever it starts has ended when it settles. */
export const runChaos = async (options: ChaosOptions): Promise<ChaosOutcome> => {
  const directory = await mkdtemp(join(tmpdir(), 'chaos-'))
  const { atEnd, end } = ending()
  atEnd(() => rm(directory, { recursive: true, force: true }))
  try {
    return await play(options, directory, atEnd)
  } finally {
    await end()
  }
}

const play = async (options: ChaosOptions, directory: string, atEnd: OnFinished): Promise<ChaosOutcome> => {
  const { seed, minutes = 0, picks = () => true, signal } = options
  const random = randomOf(`${seed}/executioner`)
  const historyPath = join(directory, 'history.jsonl')
  const history = historyWriter(historyPath, 'executioner')
  atEnd(() => history[Symbol.dispose]())
  const backend = await options.backend()
  atEnd(async () => {
    await backend[Symbol.asyncDispose]()
  })

  const processOf = async (name: string, role: ChaosProcess['role'], tags: string[] = []): Promise<ChaosProcess> => {
    const way = await backend.wayOf(name)
    const { prefix } = backend
    const process = chaosProcess({ name, role, tags, seed, way, prefix, historyPath, directory, history })
    atEnd(() => process.end('SIGKILL'))
    return process
  }
  const count = options.workers ?? random.int(3, 5)
  const scene: Scene = {
    workers: await Promise.all(
      Array.from({ length: count }, (_, n) => processOf(`w${n + 1}`, 'worker', n < 2 ? ['special'] : [])),
    ),
    submitters: await Promise.all([1, 2].map((n) => processOf(`s${n}`, 'submitter'))),
  }
  await Promise.all([...scene.workers, ...scene.submitters].map((process) => process.start()))

  const watching = startWatching(backend, history)
  try {
    const faults = [...processFaults, ...backend.faults].filter(picks)
    await execute({ faults, scene, random, history, minutes, ...(signal && { signal }) })
    for (const submitter of scene.submitters) submitter.order({ kind: 'finish' })
    await Promise.all(scene.submitters.map((submitter) => submitter.ended(FINISH_LIMIT_MS)))
    await settleDown(backend, SETTLE_LIMIT_MS)
  } finally {
    await watching[Symbol.asyncDispose]()
  }
  await measureIdle(backend, scene.workers.length, history)
  await Promise.all(scene.workers.map((worker) => worker.end('SIGTERM', DRAIN_LIMIT_MS)))
  const state = await readFinalState(backend)
  const lines = readHistory(historyPath)
  return { violations: check({ lines, state }), lines, state }
}
