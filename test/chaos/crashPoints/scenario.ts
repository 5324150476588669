import type { AnyTaskHandlerDescriptor, StoredTask, TaskRunner, Worker } from '@furystack/task-runner'

/** Something that was done outside of queue and store, where nobody takes it back. */
export type LogLine =
  /** A handler began a run. */
  | { readonly kind: 'ran'; readonly taskId: string }
  /** A handler did something outside. */
  | { readonly kind: 'did'; readonly taskId: string; readonly what: string }
  /** A call of the runner was answered. */
  | { readonly kind: 'told'; readonly call: string; readonly taskId: string }

/** Writes down what was done, by the process that did it. What a dead process does is not written down. */
export type Log = (line: LogLine) => void

/** One process on which a scenario is played. */
export interface Stage {
  readonly runner: TaskRunner
  readonly log: Log
  /** Whether this is the process that may die, and not one that comes after it. */
  readonly isFirst: boolean
  /** Where handlers may send requests to; each that arrives is written down as `called`. */
  readonly origin: string
  /** How long whoever is silent keeps a claim. */
  readonly visibilityMs: number
  /** Starts a worker for the scenario's handlers. */
  work(concurrency?: number): Worker
  /** Ends the process in good order. */
  dispose(): Promise<void>
}

/** What handlers know of their process. */
export type HandlerStage = Pick<Stage, 'log' | 'isFirst' | 'origin' | 'visibilityMs'>

/** What is there once everything has been recovered. */
export interface Outcome {
  readonly rows: readonly StoredTask[]
  readonly log: readonly LogLine[]
}

/** A piece of a task's life, from the first call to the last write. */
export interface Scenario {
  readonly name: string
  readonly handlers: (stage: HandlerStage) => AnyTaskHandlerDescriptor[]
  /** What the process does that may die. Resolves when all has come to its end. */
  readonly play: (stage: Stage) => Promise<void>
  /** Whether no process is left when it has been played to its end. */
  readonly endsProcess?: true
  /** What whoever got no answer does once more, through another process. */
  readonly again?: (stage: Stage, told: readonly LogLine[], rows: readonly StoredTask[]) => Promise<void>
  /** What has to be so in the end, beyond what has to be so always. */
  readonly check: (outcome: Outcome) => void
}
