import type { RunnableTask } from '../store/begunTask.js'

/** When a task whose attempt of that number has just begun became due: epoch milliseconds. */
export const dueSince = ({ submittedAt, notBefore, attempts }: RunnableTask, attempt: number): number => {
  const previous = attempts.findLast((earlier) => earlier.attempt < attempt)?.finishedAt
  const submitted = Date.parse(submittedAt)
  if (notBefore === undefined && previous === undefined) return submitted
  return Math.max(submitted, Date.parse(notBefore ?? submittedAt), Date.parse(previous ?? submittedAt))
}
