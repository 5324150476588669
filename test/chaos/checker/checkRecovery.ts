import { RUNNER_OPTIONS } from '../settings.js'
import type { Check } from './check.js'

/** The promise is the visibility and a second; the rest is for slots that are taken at that moment. */
const TAKEN_OVER_WITHIN_MS = RUNNER_OPTIONS.visibilityTimeoutMs + 1_000 + 3_000

/**
 * G6. What a dead worker ran is begun again, or over, within the visibility and a second; and a handler whose worker is
 * well is not taken for dead.
 */
export const checkRecovery: Check = ({ runs, runsOf, rows, lives, wasDisturbed, wereOthersDisturbed }) => {
  const forgotten = runs.flatMap(({ taskId, attempt, by, to, how }) => {
    const limit = to + TAKEN_OVER_WITHIN_MS
    const row = rows.get(taskId)
    if (how !== 'died' || !row || wereOthersDisturbed(to, limit, by)) return []
    const next = runsOf(taskId).find((run) => run.attempt > attempt)
    const goneOnAt = Math.min(next?.from ?? Infinity, Date.parse(row.terminalAt ?? '') || Infinity)
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
