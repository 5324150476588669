import type { Task } from '../task/task.js'
import type { TaskUpdate } from '../task/taskUpdate.js'

/** The update that tells of the status that a row shows. */
export type StatusUpdate = TaskUpdate & { kind: 'status' }

/**
 * The status of a row as an update. Its time is when the row came to it, as far as rows tell: a draft that was started,
 * or a parent that was woken, may have become pending later than that, never earlier.
 */
export const snapshotOf = (task: Task): StatusUpdate => {
  const { id: taskId, status } = task
  const snapshot: StatusUpdate = { kind: 'status', taskId, status, at: sinceOf(task) }
  if (status !== 'cancelled' && status !== 'cancelling') return snapshot
  const reason = cancelRequestOf(task)?.reason
  return reason === undefined ? snapshot : { ...snapshot, reason }
}

const sinceOf = (task: Task): string => {
  const { status, attempts, submittedAt, terminalAt } = task
  const last = attempts.at(-1)
  if (terminalAt !== undefined) return terminalAt
  if (status === 'running' || status === 'claimed') return last?.startedAt ?? submittedAt
  if (status === 'cancelling') return cancelRequestOf(task)?.at ?? last?.startedAt ?? submittedAt
  const resentAt = task.events.findLast(({ kind }) => kind === 'resent')?.at ?? ''
  const finishedAt = last?.finishedAt ?? submittedAt
  return resentAt > finishedAt ? resentAt : finishedAt
}

const cancelRequestOf = ({ events }: Task) => events.findLast((event) => event.kind === 'cancellation-requested')
