import type { DeadTask } from '../deadLetters/deadLetter.js'
import type { TaskStatus, TerminalStatus } from './taskStatus.js'

/**
 * How many events a task keeps, the newest ones.
 *
 * @example
 * console.log(task.events.length <= MAX_EVENTS_PER_TASK) // true
 */
export const MAX_EVENTS_PER_TASK = 1000

/**
 * One entry of a task's history, oldest first; `at` is ISO-8601.
 *
 * @example
 * const isRetry = (event: TaskEvent): boolean => event.kind === 'attempt-failed' && event.willRetry
 */
export type TaskEvent = {
  /** When, ISO-8601. */
  at: string
} & (
  | { kind: 'submitted' }
  | { kind: 'claimed'; workerId: string }
  | { kind: 'spawned-child'; childTaskId: string; childType: string }
  | { kind: 'child-completed'; childTaskId: string; status: TerminalStatus }
  | { kind: 'attempt-failed'; attempt: number; willRetry: boolean }
  /** It was a dead letter for that reason; `attempts` had been made by then. */
  | { kind: 'resent'; reason: DeadTask['reason']; attempts: number }
  | { kind: 'cancellation-requested'; reason?: string }
  | { kind: 'progress-milestone'; percent: number; meta?: unknown }
  | { kind: 'status-changed'; from: TaskStatus; to: TaskStatus }
)
