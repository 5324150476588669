import { describe } from 'vitest'

import { capSuite } from './lanePort/caps.js'
import type { MakeHarness } from './lanePort/harness.js'
import { listenSuite } from './lanePort/listens.js'
import { readSuite } from './lanePort/reads.js'
import { retireSuite } from './lanePort/retires.js'
import { scheduleSuite } from './lanePort/schedules.js'
import { settleSuite } from './lanePort/settles.js'
import { sweepSuite } from './lanePort/sweeps.js'

/**
 * What any implementation of `LanePort` has to do. Time passes only through the harness, and what depends on it is
 * measured with the clock of whatever lies behind the port, so that a slow machine fails no test.
 *
 * @param makeHarness called once a test; what it opens it closes with `onTestFinished`
 */
export const lanePortSuite = (name: string, makeHarness: MakeHarness): void => {
  describe(name, () => {
    readSuite(makeHarness)
    sweepSuite(makeHarness)
    settleSuite(makeHarness)
    scheduleSuite(makeHarness)
    listenSuite(makeHarness)
    capSuite(makeHarness)
    retireSuite(makeHarness)
  })
}
