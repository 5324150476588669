import type { Task } from '../task/task.js'

/** When a task whose next attempt has just begun became due: epoch milliseconds. */
export const dueSince = ({ submittedAt, notBefore, attempts }: Task): number => {
  const previous = attempts.at(-2)?.finishedAt
  const submitted = Date.parse(submittedAt)
  if (notBefore === undefined && previous === undefined) return submitted
  return Math.max(submitted, Date.parse(notBefore ?? submittedAt), Date.parse(previous ?? submittedAt))
}
