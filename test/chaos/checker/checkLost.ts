import { isTerminalStatus } from '@furystack/task-runner'

import type { Check } from './check.js'

/**
 * G1. Whatever `submit` answered is there in the end, and over; and what has succeeded has been run. A row may be gone
 * if a fault that loses data came after its submission, or if its policy keeps none. A draft is over for as long as nobody
 * has been told that it is started.
 */
export const checkLost: Check = ({ of, rows, runsOf, mayBeLost, state }) => {
  const lost = of('submitted').flatMap(({ at, ref, taskId, startedAt }) => {
    if (rows.has(taskId) || mayBeLost(startedAt)) return []
    const runs = runsOf(taskId)
    // Nothing is kept of a task of this kind that has succeeded.
    if (runs.some(({ type, how }) => type === 'fleeting' && how === 'returned')) return []
    return [{ at, taskId, message: `${ref} was submitted, and is not there in the end` }]
  })
  // After a fail-over the row may be that of the draft again.
  const kept = of('submitted').filter(({ startedAt }) => !mayBeLost(startedAt, 'newest'))
  const submitted = new Set(kept.map(({ taskId }) => taskId))
  const stuck = state.rows.flatMap(({ id, status, submittedAt }) =>
    isTerminalStatus(status) || (status === 'draft' && !submitted.has(id))
      ? []
      : [
          {
            at: Date.parse(submittedAt),
            taskId: id,
            message: `a task is ${status} in the end, and nothing comes of it`,
          },
        ],
  )
  const unrun = state.rows.flatMap(({ id, status, terminalAt }) =>
    status !== 'succeeded' || runsOf(id).length > 0
      ? []
      : [{ at: Date.parse(terminalAt ?? ''), taskId: id, message: 'a task has succeeded without having been run' }],
  )
  return [...lost, ...stuck, ...unrun]
}
