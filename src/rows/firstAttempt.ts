import type { BegunTask, RunnableRow } from '@furystack/task-runner'

import type { FirstRun } from './firstRun.js'

/**
 * The attempt that begins with a {@link FirstRun}. A class, because there is one for each task in work: see "Classes for
 * what is in work" in docs/performance.md.
 */
export class FirstAttempt implements BegunTask {
  readonly kind = 'begun'
  readonly attempt = 1
  readonly stored: RunnableRow

  /** @param at epoch milliseconds */
  constructor(
    task: FirstRun,
    failures: number,
    hasSteps: boolean,
    readonly at: number,
  ) {
    this.stored = new FirstRow(task, failures, hasSteps)
  }
}

class FirstRow implements RunnableRow {
  constructor(
    readonly task: FirstRun,
    readonly failures: number,
    readonly hasSteps: boolean,
  ) {}
}
