import { setTimeout as pause } from 'node:timers/promises'

import type { Fault, Scene } from '../faults/fault.js'
import type { HistoryWriter } from '../history/historyFile.js'
import type { Random } from './random.js'

/** What an executioner works with. */
export interface ExecutionerOptions {
  readonly faults: readonly Fault[]
  readonly scene: Scene
  readonly random: Random
  readonly history: HistoryWriter
  /** Every fault comes once, in any order; then all of them again, until this is over. */
  readonly minutes: number
  readonly signal?: AbortSignal
}

/** Long enough for what has been disturbed to go on, and for something undisturbed to happen. */
const CALM_MS = { min: 1_000, max: 3_000 }
/** Now and then nothing is disturbed for so long that nothing is excused. */
const LONG_CALM_MS = { min: 6_000, max: 9_000 }
const LONG_CALM = 0.15
/** What was written this long before a fail-over may not have reached the replica. */
const NEWEST_MS = 1_000
const BOTH = 0.2

/** Lets one fault after the other loose, now and then two at once; resolves when the last one is over. */
export const execute = async (options: ExecutionerOptions): Promise<void> => {
  const { faults, scene, random, history, minutes, signal } = options
  const endsAt = performance.now() + minutes * 60_000
  let id = 0

  const strike = async (fault: Fault): Promise<void> => {
    const { targets, begin, holdMs, end, loses } = fault.prepare(scene, random)
    const line = {
      kind: 'fault' as const,
      id: ++id,
      name: fault.name,
      targets: targets === 'all' ? ('all' as const) : targets.map(({ by }) => by),
      ...(fault.isHarmless && { isHarmless: true }),
    }
    const startedAt = Date.now()
    history.note({ ...line, phase: 'begins' })
    await begin()
    await pause(holdMs)
    await end()
    if (loses) history.note({ kind: 'loss', startedAt: startedAt - (loses === 'newest' ? NEWEST_MS : 0), what: loses })
    history.note({ ...line, phase: 'ends' })
  }

  do {
    const rest = random.shuffled(faults)
    for (let fault = rest.pop(); fault && !signal?.aborted; fault = rest.pop()) {
      const { min, max } = random.chance(LONG_CALM) ? LONG_CALM_MS : CALM_MS
      await pause(random.int(min, max))
      const other = random.chance(BOTH) ? rest.findIndex(({ scope }) => scope !== fault.scope) : -1
      const both = other < 0 ? [fault] : [fault, ...rest.splice(other, 1)]
      await Promise.all(both.map(strike))
    }
  } while (performance.now() < endsAt && !signal?.aborted)
  // Whether something new is taken and run after the last fault, too, when nothing excuses anything any more.
  await pause(LONG_CALM_MS.max)
}
