import type { Task } from '@furystack/task-runner'

import { RUNNER_OPTIONS } from '../run/settings.js'
import type { Check } from './check.js'
import type { Readings } from './readings.js'

/** The promise is the visibility and a second; the rest is for slots that are taken at that moment. */
const TAKEN_OVER_WITHIN_MS = RUNNER_OPTIONS.visibilityTimeoutMs + 1_000 + 3_000

/**
 * G6. What a dead worker ran is begun again, or over, within the visibility and a second; and a handler whose worker is
 * well is not taken for dead.
 */
export const checkRecovery: Check = (readings) => {
  const { runs, runsOf, rows, lives, wasDisturbed, wereOthersDisturbed } = readings
  const forgotten = runs.flatMap(({ taskId, attempt, type, by, to, how }) => {
    const limit = to + TAKEN_OVER_WITHIN_MS
    const row = rows.get(taskId)
    if (how !== 'died' || !row || wereOthersDisturbed(to, limit, by)) return []
    // Poison may have killed everybody, or everybody who has the tag.
    if (type === 'tagged' || !hasHeir(to, limit, readings)) return []
    const next = runsOf(taskId).find((run) => run.attempt > attempt)
    const goneOnAt = Math.min(
      next?.from ?? Infinity,
      Date.parse(row.terminalAt ?? '') || Infinity,
      overAt(row, attempt),
    )
    if (goneOnAt <= limit) return []
    const after = goneOnAt === Infinity ? 'never' : `${goneOnAt - to} ms later`
    return [{ at: to, taskId, message: `${by} died with attempt ${attempt}; it was taken over ${after}` }]
  })
  const robbed = [...rows.values()].flatMap(({ id, attempts }) =>
    attempts.flatMap(({ attempt, status, finishedAt }) => {
      const run = runsOf(id).find((one) => one.attempt === attempt)
      if (status !== 'timed-out' || !run) return []
      const lostAt = Date.parse(finishedAt ?? '')
      if ((lives.get(run.by)?.to ?? Infinity) <= lostAt || wasDisturbed(run.from, lostAt, run.by)) return []
      return [{ at: lostAt, taskId: id, message: `${run.by} was well, and attempt ${attempt} was taken from it` }]
    }),
  )
  return [...forgotten, ...robbed]
}

/** When a task was over with an attempt, if it was sent again after that. */
const overAt = ({ attempts, events }: Task, attempt: number): number => {
  if (!events.some((event) => event.kind === 'resent' && event.attempts === attempt)) return Infinity
  return Date.parse(attempts.find((one) => one.attempt === attempt)?.finishedAt ?? '') || Infinity
}

/** Whether anybody was there all the time who could take over. */
const hasHeir = (from: number, to: number, { of, lives }: Readings): boolean =>
  of('ready').some(({ at, by }) => at <= from && (lives.get(by)?.to ?? Infinity) >= to)
