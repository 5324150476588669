/**
 * Where a task is in its life.
 *
 * `draft` waits for {@link TaskRunner.start}; `pending` is queued or parked; `claimed` is announced to subscribers but
 * never stored; `running` is owned by one worker; `waiting` is suspended until awaited children end; `cancelling` runs
 * still, but its worker has been told to stop. The last three are terminal.
 *
 * @example
 * const isWaiting = (status: TaskStatus): boolean => status === 'pending' || status === 'waiting'
 */
export type TaskStatus =
  'draft' | 'pending' | 'claimed' | 'running' | 'waiting' | 'cancelling' | 'cancelled' | 'succeeded' | 'failed'

/**
 * A status that a task never leaves again.
 *
 * @example
 * const endings: TerminalStatus[] = ['succeeded', 'failed', 'cancelled']
 */
export type TerminalStatus = 'cancelled' | 'succeeded' | 'failed'

/**
 * The statuses that a task never leaves again.
 *
 * @example
 * TERMINAL_STATUSES.has('failed') // true
 */
export const TERMINAL_STATUSES: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['cancelled', 'succeeded', 'failed'])

/**
 * Tells whether a status is one that a task never leaves again.
 *
 * @example
 * const task = await runner.get(taskId)
 * if (task && isTerminalStatus(task.status)) console.log('it is over')
 */
export const isTerminalStatus = (status: TaskStatus): status is TerminalStatus => TERMINAL_STATUSES.has(status)
