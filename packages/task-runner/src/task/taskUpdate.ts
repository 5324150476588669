import type { TaskStatus, TerminalStatus } from './taskStatus.js'

/**
 * What subscribers and the bus carry. `taskId` is the task that the update is about: the parent for the two child
 * kinds. `at` is ISO-8601.
 */
export type TaskUpdate =
  | { kind: 'status'; taskId: string; status: TaskStatus; at: string; reason?: string }
  | { kind: 'progress'; taskId: string; percent: number; meta?: unknown; at: string }
  | { kind: 'spawned-child'; taskId: string; childTaskId: string; at: string }
  | { kind: 'child-completed'; taskId: string; childTaskId: string; status: TerminalStatus; at: string }
