import { FLAKY_DELAY_MS } from '../run/settings.js'
import type { Check } from './check.js'
import { groupBy } from './groupBy.js'

/**
 * G5. Nothing starts before its time: neither a task before its `notBefore` nor a retry before its pause is over, by the
 * server's clock and by that of the handlers, which is the same on one machine. And what came too late to be begun is not
 * run at all; nor is a draft before somebody has asked for its start.
 */
export const checkDue: Check = ({ of, runs, runsOf, state }) => {
  const due = new Map(
    of('submitting').flatMap(({ ref, notBefore }) => (notBefore === undefined ? [] : [[ref, notBefore]])),
  )
  const early = runs.flatMap(({ taskId, ref, from }) => {
    const notBefore = due.get(ref)
    if (notBefore === undefined || from >= notBefore) return []
    return [{ at: from, taskId, message: `it was run ${notBefore - from} ms before its time` }]
  })
  const hasty = state.rows
    .filter(({ type }) => type === 'flaky')
    .flatMap(({ id, attempts, events }) => {
      const resentAfter = new Set(events.flatMap((event) => (event.kind === 'resent' ? [event.attempts] : [])))
      let failures = 0
      return attempts.flatMap(({ status, finishedAt }, index) => {
        const next = attempts[index + 1]
        if (status !== 'failed' || finishedAt === undefined) return []
        const pause = ++failures * FLAKY_DELAY_MS
        if (resentAfter.has(index + 1)) failures = 0
        if (!next || failures === 0) return []
        const after = Date.parse(next.startedAt) - Date.parse(finishedAt)
        return after >= pause
          ? []
          : [
              {
                at: Date.parse(next.startedAt),
                taskId: id,
                message: `it was retried after ${after} ms, not after ${pause}`,
              },
            ]
      })
    })
  const late = state.rows
    .filter(({ error }) => error?.name === 'TaskExpiredError')
    .flatMap(({ id }) =>
      runsOf(id)
        .slice(0, 1)
        .map(({ from }) => ({ at: from, taskId: id, message: 'it was run, and has expired unrun as it says' })),
    )
  const drafts = new Set(of('submitting').flatMap(({ ref, isDraft = false }) => (isDraft ? [ref] : [])))
  const started = groupBy(of('starting'), ({ ref }) => ref)
  const unstarted = runs.flatMap(({ ref, taskId, from }) =>
    drafts.has(ref) && !started.get(ref)?.some(({ at }) => at <= from)
      ? [{ at: from, taskId, message: 'it was run, and nobody had started it' }]
      : [],
  )
  return [...early, ...hasty, ...late, ...unstarted]
}
