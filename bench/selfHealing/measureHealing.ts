import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import type { RedisTaskRunner } from '../../src/index.js'
import type { Fault, Scene } from '../../test/chaos/faults/fault.js'
import { processFaults } from '../../test/chaos/faults/processFaults.js'
import { historyWriter } from '../../test/chaos/history/historyFile.js'
import type { Random } from '../../test/chaos/run/random.js'
import { type ChaosProcess, chaosProcess } from '../../test/chaos/world/chaosProcess.js'
import { ending } from '../../test/chaos/world/ending.js'
import { openRunner } from '../../test/chaos/world/openRunner.js'
import type { ChaosPayload, TaskType } from '../../test/chaos/world/planTask.js'
import { type WorldName, WORLDS } from '../../test/chaos/run/worlds.js'
import { until } from '../../test/support/until.js'
import { RunLog } from './runLog.js'

/** What is measured, and how often. */
export interface HealingOptions {
  readonly world: WorldName
  readonly times: number
  readonly only: string
  readonly onMeasured: (healing: Healing) => void
}

/** How long it took after one fault, in milliseconds. */
export interface Healing {
  readonly name: string
  /** Whether time counts from the beginning of the fault, or from its end. */
  readonly from: 'beginning' | 'end'
  readonly samples: readonly number[]
}

/** The defaults, but for a visibility that does not make an hour of it. */
const SETTINGS = { visibilityTimeoutMs: 3_000, drainTimeoutMs: 0 }
const SUBMIT_EVERY_MS = 25
const LIMIT_MS = 60_000

/** Everything at its longest, and aimed at everybody. */
const LONGEST: Random = {
  next: () => 0,
  int: (_, max) => max,
  pick: (list) => list[0] as (typeof list)[number],
  chance: () => true,
  shuffled: (list) => [...list],
}

/** What does not end by itself, or is over as soon as it has begun. */
const FROM_BEGINNING = /SIGKILL|SIGSTOP|SIGTERM|event loop|loses a reply|Sentinel/

/** Lets each fault of a world loose on two workers and a submitter, again and again. */
export const measureHealing = async ({ world, times, only, onMeasured }: HealingOptions): Promise<void> => {
  const { atEnd, end } = ending()
  try {
    const directory = await mkdtemp(join(tmpdir(), 'healing-'))
    atEnd(() => rm(directory, { recursive: true, force: true }))
    const path = join(directory, 'history.jsonl')
    const history = historyWriter(path, 'bench')
    atEnd(() => history[Symbol.dispose]())
    const backend = await WORLDS[world]()
    atEnd(async () => {
      await backend[Symbol.asyncDispose]()
    })
    const { prefix } = backend
    const start = async (name: string): Promise<ChaosProcess> => {
      const way = await backend.wayOf(name)
      const settings = SETTINGS
      const common = { role: 'worker', tags: [], seed: 'bench', prefix, historyPath: path, directory, history } as const
      const worker = chaosProcess({ name, way, settings, ...common })
      atEnd(() => worker.end('SIGKILL'))
      await worker.start()
      return worker
    }
    const workers = await Promise.all(['w1', 'w2'].map(start))
    // Faults of the network concern the submitter too: the proxies know it by this name.
    const submitter = { name: 's1', by: 's1.0' } as ChaosProcess
    const { runner, dispose } = await openRunner(await backend.wayOf('s1'), prefix, 's1', SETTINGS)
    atEnd(dispose)

    const runs = new RunLog(path)
    atEnd(() => runs[Symbol.dispose]())
    const bench = new Bench(runner, runs, workers, submitter)
    const faults = [...(world === 'single' ? processFaults : []), ...backend.faults].filter(
      ({ name }) => name.includes(only) && !name.includes('of a submitter'),
    )
    for (const fault of faults) {
      const samples: number[] = []
      for (let n = 0; n < times; n++) samples.push(await bench.measure(fault))
      onMeasured({ name: fault.name, from: FROM_BEGINNING.test(fault.name) ? 'beginning' : 'end', samples })
    }
  } finally {
    await end()
  }
}

class Bench {
  #count = 0
  readonly #submittedAt = new Map<string, number>()

  constructor(
    private readonly runner: RedisTaskRunner,
    private readonly runs: RunLog,
    private readonly workers: readonly ChaosProcess[],
    private readonly submitter: ChaosProcess,
  ) {}

  /** One fault, from something that runs to something that runs again; milliseconds. */
  async measure(fault: Fault): Promise<number> {
    await this.#calm()
    return fault.scope === 'process' ? this.#measureHeld(fault) : this.#measureNew(fault)
  }

  /** Of a fault of one worker: when the task that it held is run by the other one. */
  async #measureHeld(fault: Fault): Promise<number> {
    const ref = await this.#submit('slow', 30_000)
    const first = await this.runs.find((run) => run.ref === ref)
    const victim = this.workers.find(({ by }) => by === first.by)
    if (!victim) throw new Error(`${first.by} is no worker`)
    const at = Date.now()
    const strike = fault.prepare({ workers: [victim], submitters: [] }, LONGEST)
    const again = this.runs.find((run) => run.ref === ref && run.attempt > first.attempt)
    await Promise.all([
      strike
        .begin()
        .then(() => pause(strike.holdMs))
        .then(strike.end),
      again,
    ])
    await this.runner.cancel(first.taskId)
    return (await again).at - at
  }

  /**
   * Of all others: when something is run that was submitted after it. Where it has no end to count from, or not that one:
   * the longest time in which nothing was run.
   */
  async #measureNew(fault: Fault): Promise<number> {
    const scene: Scene = { workers: this.workers, submitters: [this.submitter] }
    const strike = fault.prepare(scene, LONGEST)
    let isHealed = false
    const submitting = (async () => {
      while (!isHealed) {
        void this.#submit('quick', 0).catch(() => undefined)
        await pause(SUBMIT_EVERY_MS)
      }
    })()
    const beganAt = Date.now()
    await strike.begin()
    await pause(strike.holdMs)
    await strike.end()
    const at = Date.now()
    try {
      const healed = await this.runs.find((run) => (this.#submittedAt.get(run.ref) ?? 0) >= at)
      return FROM_BEGINNING.test(fault.name) ? this.runs.longestPause(beganAt, healed.at) : healed.at - at
    } finally {
      isHealed = true
      await submitting
    }
  }

  async #submit(type: TaskType, ms: number): Promise<string> {
    const ref = `bench:${++this.#count}`
    this.#submittedAt.set(ref, Date.now())
    await this.runner.submit<ChaosPayload>({ type, handlerVersion: 1, payload: { ref, ms } })
    return ref
  }

  /** Waits until something that is submitted now is run at once, several times in a row, by whichever worker. */
  async #calm(): Promise<void> {
    for (let quick = 0; quick < 5;) {
      const at = Date.now()
      const ref = await until(() => this.#submit('quick', 0), {
        timeoutMs: LIMIT_MS,
        description: 'a submission is taken',
      })
      const run = await this.runs.find((one) => one.ref === ref)
      quick = run.at - at < 500 ? quick + 1 : 0
    }
    this.runs.clear()
    this.#submittedAt.clear()
  }
}
