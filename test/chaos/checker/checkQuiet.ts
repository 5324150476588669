import type { Check } from './check.js'

/** Fewer than ten at the defaults; here maintenance comes ten times as often, sweeps too, and there is a bus. */
const COMMANDS_PER_SECOND = 15

/** G9. Workers that have nothing to do send a handful of commands a second, whatever has happened to them before. */
export const checkQuiet: Check = ({ of }) =>
  of('idle')
    .filter(({ perSecond, workers }) => perSecond > COMMANDS_PER_SECOND * workers)
    .map(({ at, perSecond, workers, counts }) => ({
      at,
      message: `${workers} idle workers sent ${perSecond.toFixed(1)} commands a second: ${JSON.stringify(counts)}`,
    }))
