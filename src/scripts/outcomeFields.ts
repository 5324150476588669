import type { FinishAttempt } from '@furystack/task-runner'

import { textFields } from '../rows/textFields.js'

/** An outcome as the fragment `finishAttempt` takes it. */
export interface OutcomeFields {
  readonly kind: string
  /** The fields and values of a result. */
  readonly result: readonly string[]
  /** The row's error, or the awaited children, or `unstarted`; '' for none. */
  readonly text: string
  /** The attempt's error; '' for none. */
  readonly error: string
  readonly delayMs: string
}

const NOTHING: Omit<OutcomeFields, 'kind'> = { result: [], text: '', error: '', delayMs: '0' }

/**
 * Takes an outcome apart.
 *
 * @example
 * outcomeFields({ kind: 'succeeded', resultJson: '1' }).result // ['r', '1']
 */
export const outcomeFields = (outcome: FinishAttempt['outcome']): OutcomeFields => {
  switch (outcome.kind) {
    case 'succeeded':
      if (outcome.resultJson === undefined) return { kind: 'succeeded', ...NOTHING }
      return { kind: 'succeeded', ...NOTHING, result: textFields('r', outcome.resultJson) }
    case 'failed': {
      const { error: thrown, retryDelayMs } = outcome
      const error = JSON.stringify(thrown)
      if (retryDelayMs !== undefined) return { kind: 'retry', ...NOTHING, error, delayMs: wholeMs(retryDelayMs) }
      return { kind: 'failed', ...NOTHING, text: JSON.stringify({ name: thrown.name, message: thrown.message }), error }
    }
    case 'cancelled':
      return { kind: 'cancelled', ...NOTHING, error: outcome.error ? JSON.stringify(outcome.error) : '' }
    case 'released':
      return {
        kind: 'released',
        ...NOTHING,
        text: outcome.unstarted === true ? 'unstarted' : '',
        delayMs: wholeMs(outcome.delayMs ?? 0),
      }
    case 'suspended':
      return { kind: 'suspended', ...NOTHING, text: JSON.stringify(outcome.awaiting) }
    case 'parked':
      return { kind: 'parked', ...NOTHING, delayMs: wholeMs(outcome.delayMs) }
  }
}

const wholeMs = (ms: number): string => String(Math.ceil(ms))
