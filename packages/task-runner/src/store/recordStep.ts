/** A step that a handler has taken, as stores keep it: a name that is unique within the task, and a text. */
export interface StepRecord {
  key: string
  json: string
}

/** A step that has been recorded; `at` is when, in epoch milliseconds by the store's clock. */
export interface RecordedStep extends StepRecord {
  at: number
}

/** Records a step of a task's handler, fenced by the attempt. */
export interface RecordStep {
  taskId: string
  attempt: number
  step: StepRecord
}

/**
 * - `recorded`: it stands.
 * - `exists`: a step of this name was recorded before, and is untouched.
 * - `lost`: the attempt is no longer the present one.
 */
export type RecordStepResult =
  { kind: 'recorded'; at: number } | { kind: 'exists'; step: RecordedStep } | { kind: 'lost' }
