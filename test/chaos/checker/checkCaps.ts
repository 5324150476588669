import { RUNNER_OPTIONS } from '../run/settings.js'
import type { Check } from './check.js'
import type { Readings, Run } from './readings.js'

/**
 * G4. Never more runs of a capped type at once than its cap. A run whose worker stood still, or was cut off, may have lost
 * its place in the meantime, and one that somebody else has begun again has: neither counts from then on.
 */
export const checkCaps: Check = (readings) =>
  Object.entries(RUNNER_OPTIONS.concurrencyLimits).flatMap(([type, cap]) => {
    const capped = readings.runs.filter((run) => run.type === type)
    return capped.flatMap((run) => {
      const holders = capped.filter(
        (one) => one.from <= run.from && run.from < one.to && holdsPlace(one, run.from, readings),
      )
      if (holders.length <= cap) return []
      const message = `${holders.length} tasks of type ${type} ran at once: ${holders.map(describe).join(', ')}`
      return [{ at: run.from, taskId: run.taskId, message }]
    })
  })

const holdsPlace = (run: Run, at: number, { runsOf, wasDisturbed }: Readings): boolean =>
  !wasDisturbed(run.from, at, run.by) &&
  !runsOf(run.taskId).some(({ attempt, from }) => attempt > run.attempt && from <= at)

const describe = ({ taskId, attempt, by }: Run): string => `${taskId} (attempt ${attempt}) on ${by}`
