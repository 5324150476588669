import { describe, expect, it } from 'vitest'

import type { Fault } from './faults/fault.js'
import { reportOf } from './run/report.js'
import { runChaos } from './run/runChaos.js'
import { type WorldName, WORLDS } from './run/worlds.js'

/** Another seed is another run: other tasks, other faults at other times, other victims. */
const seed = process.env['CHAOS_SEED'] || '1'

const all = (): boolean => true
const fewOfProcesses = ({ name, scope }: Fault): boolean =>
  scope === 'server' || /^SIG(?:KILL of a worker|STOP)/.test(name)

describe('random tasks on several processes keep all guarantees while', () => {
  it.each<[string, WorldName, (fault: Fault) => boolean]>([
    ['processes, network and server have every fault once', 'single', all],
    ['a Sentinel fails over', 'sentinel', fewOfProcesses],
    ['the slot of a cluster is moved, and its node is away', 'cluster', fewOfProcesses],
  ])('%s', { timeout: 300_000 }, async (_, world, picks) => {
    const outcome = await runChaos({ seed, backend: WORLDS[world], picks, workers: 3 })
    if (outcome.violations.length > 0)
      console.error(reportOf(seed, `npm run chaos -- --seed ${seed} --minutes 0 --world ${world} --workers 3`, outcome))
    expect(outcome.violations).toEqual([])
    // It is no proof if nothing has happened.
    expect(outcome.lines.filter(({ kind }) => kind === 'submitted').length).toBeGreaterThan(50)
  })
})
