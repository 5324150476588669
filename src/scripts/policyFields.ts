import type { FinishAttempt } from '@furystack/task-runner'

import { encodePolicy, keepTextOf } from '../rows/keepText.js'

/**
 * The policy that comes with the end of an attempt, as scripts take it: its text and its times, each '' for none.
 *
 * @example
 * policyFields(undefined) // ['', '']
 */
export const policyFields = (policy: FinishAttempt['retentionPolicy']): [text: string, times: string] =>
  policy ? [encodePolicy(policy), keepTextOf(policy)] : ['', '']
