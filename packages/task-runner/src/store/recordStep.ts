/**
 * A step that a handler has taken, as stores keep it: a name that is unique within the task, and a text.
 *
 * @example
 * const step: StepRecord = { key: 'random:0', json: '0.25' }
 */
export interface StepRecord {
  /** Unique within the task. */
  key: string
  /** What the step gave, as JSON text. */
  json: string
}

/**
 * A step that has been recorded; `at` is when, in epoch milliseconds by the store's clock.
 *
 * @example
 * const steps: RecordedStep[] = await store.readSteps(taskId)
 * const first = steps.toSorted((a, b) => a.at - b.at)[0]
 */
export interface RecordedStep extends StepRecord {
  /** When, in epoch milliseconds by the store’s clock. */
  at: number
}

/**
 * Records a step of a task's handler, fenced by the attempt.
 *
 * @example
 * const input: RecordStep = { taskId, attempt: 1, step: { key: 'now:0', json: '1700000000000' } }
 * await store.recordStep(input)
 */
export interface RecordStep {
  /** The task. */
  taskId: string
  /** The number that `begun` gave. */
  attempt: number
  /** What to keep. */
  step: StepRecord
}

/**
 * - `recorded`: it stands.
 * - `exists`: a step of this name was recorded before, and is untouched.
 * - `lost`: the attempt is no longer the present one.
 *
 * @example
 * const result: RecordStepResult = await store.recordStep({ taskId, attempt: 1, step: { key: 'now:0', json: '0' } })
 * if (result.kind === 'exists') console.log(result.step.json) // what was first
 */
export type RecordStepResult =
  { kind: 'recorded'; at: number } | { kind: 'exists'; step: RecordedStep } | { kind: 'lost' }
