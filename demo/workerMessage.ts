import type { TerminalStatus } from '@furystack/task-runner'

/** What a worker process tells the one that started it. It only feeds the display: what counts is in the rows. */
export type WorkerMessage =
  | { readonly kind: 'ready'; readonly workerId: string }
  | { readonly kind: 'started'; readonly taskId: string }
  | { readonly kind: 'progress'; readonly taskId: string; readonly percent: number }
  /** A run failed; the task is tried again. */
  | { readonly kind: 'retry'; readonly taskId: string; readonly error: string }
  | { readonly kind: 'ended'; readonly taskId: string; readonly status: TerminalStatus }
  /** The run had no effect, because somebody else had taken the task over. */
  | { readonly kind: 'lost'; readonly taskId: string }
  | { readonly kind: 'capFull'; readonly type: string }
  | { readonly kind: 'trouble'; readonly text: string }
