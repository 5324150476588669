import {
  blobModeOf,
  DEFAULT_RETENTION_POLICY,
  type TerminalStatus,
  retentionTimes,
  type TaskRetentionPolicy,
} from '@furystack/task-runner'

const ENDS: readonly TerminalStatus[] = ['succeeded', 'failed']
const MODES = { keep: '0', 'delete-intermediate': '1', 'delete-all': '2' } as const

/**
 * A policy as the scripts that end tasks read it, without having to parse JSON: `row|failed row|blobs|deletes`. The first
 * three are milliseconds after the end, -1 for never; `deletes` says with a digit which blobs go after a success, and
 * which after any other end: 0 none, 1 those that the task produced, 2 those that it consumed as well.
 *
 * @example
 * keepTextOf({ onSuccess: 'delete-all', onFailure: 'keep', ttlAfterTerminalDays: 1, keepRowDays: 0 })
 * // '0|86400000|86400000|20'
 */
export const keepTextOf = (policy: Readonly<TaskRetentionPolicy>): string => {
  const { row, failedRow, blobs } = retentionTimes(policy)
  const deletes = ENDS.map((end) => MODES[blobModeOf(policy, end)]).join('')
  return [...[row, failedRow, blobs].map(msText), deletes].join('|')
}

const msText = (ms: number): string => (ms === Infinity ? '-1' : String(Math.ceil(ms)))

/** What holds for a row without the field. */
export const DEFAULT_KEEP_TEXT = keepTextOf(DEFAULT_RETENTION_POLICY)

/**
 * A policy as a row keeps it, to be read again. JSON has no infinity, which some of its days may be.
 *
 * @example
 * decodePolicy(encodePolicy({ ...DEFAULT_RETENTION_POLICY, keepRowDays: Infinity })).keepRowDays // Infinity
 */
export const encodePolicy = (policy: Readonly<TaskRetentionPolicy>): string =>
  JSON.stringify(policy, (_name, value: unknown) => (value === Infinity ? FOR_GOOD : value))

/** The reverse of {@link encodePolicy}; the default for no text. */
export const decodePolicy = (text: string | undefined): TaskRetentionPolicy =>
  text === undefined
    ? { ...DEFAULT_RETENTION_POLICY }
    : (JSON.parse(text, (_name, value: unknown) => (value === FOR_GOOD ? Infinity : value)) as TaskRetentionPolicy)

const FOR_GOOD = 'Infinity'
