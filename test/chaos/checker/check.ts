import { checkBounded } from './checkBounded.js'
import { checkCaps } from './checkCaps.js'
import { checkDue } from './checkDue.js'
import { checkHealing } from './checkHealing.js'
import { checkHoarding } from './checkHoarding.js'
import { checkLost } from './checkLost.js'
import { checkOwners } from './checkOwners.js'
import { checkPoison } from './checkPoison.js'
import { checkQuiet } from './checkQuiet.js'
import { checkRecovery } from './checkRecovery.js'
import { checkShared } from './checkShared.js'
import { checkWakes } from './checkWakes.js'
import { type Evidence, type Readings, readingsOf } from './readings.js'

/** The numbers of the promises, in the order of docs/guarantees.md. */
export type Guarantee = 'G1' | 'G2' | 'G3' | 'G4' | 'G5' | 'G6' | 'G7' | 'G8' | 'G9' | 'G10' | 'G11' | 'G12'

/** A promise that was not kept. */
export interface Violation {
  readonly guarantee: Guarantee
  readonly message: string
  /** Whose history tells more. */
  readonly taskId?: string
  /** When it showed; epoch milliseconds. */
  readonly at?: number
}

/** A check answers what it objects to. */
export type Check = (readings: Readings) => Array<Omit<Violation, 'guarantee'>>

/** What each promise is held to. */
export const CHECKS: Readonly<Record<Guarantee, Check>> = {
  G1: checkLost,
  G2: checkOwners,
  G3: checkHoarding,
  G4: checkCaps,
  G5: checkDue,
  G6: checkRecovery,
  G7: checkHealing,
  G8: checkBounded,
  G9: checkQuiet,
  G10: checkPoison,
  G11: checkWakes,
  G12: checkShared,
}

/** Decides every promise by what was written down and what is left. */
export const check = (evidence: Evidence): Violation[] => {
  const readings = readingsOf(evidence)
  return (Object.keys(CHECKS) as Guarantee[]).flatMap((guarantee) =>
    CHECKS[guarantee](readings).map((violation) => ({ guarantee, ...violation })),
  )
}
