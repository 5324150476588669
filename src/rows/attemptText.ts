import { type AttemptRecord, type AttemptStatus, isoTime } from '@furystack/task-runner'

/**
 * Attempt `n` of a row is its field `a<n>`: `started|duration|status letter|worker|error`. Started is in epoch
 * milliseconds, the duration in milliseconds, the error JSON; what is not known yet is empty, and so is how long an attempt
 * took that succeeded, because it ended with its task. An attempt without an error is short enough to keep the row compact.
 *
 * @param terminalMs when the task ended, if it has
 *
 * @example
 * decodeAttempt(1, '0|5|f|w|')?.finishedAt // '1970-01-01T00:00:00.005Z'
 */
export const decodeAttempt = (attempt: number, text: string, terminalMs?: number): AttemptRecord | undefined => {
  const match = /^(\d+)\|(\d*)\|(\w)\|([^|]*)\|([^]*)$/.exec(text)
  if (!match) return undefined
  const [, started = '', duration = '', letter = '', worker = '', error = ''] = match
  const startedAt = Number(started)
  const record: AttemptRecord = {
    attempt,
    workerId: decodeWorkerId(worker),
    startedAt: isoTime(startedAt),
    status: ATTEMPT_STATUS[letter] ?? 'in-progress',
  }
  if (duration !== '') record.finishedAt = isoTime(startedAt + Number(duration))
  else if (letter === 's' && terminalMs !== undefined) record.finishedAt = isoTime(terminalMs)
  if (error !== '') record.error = JSON.parse(error) as NonNullable<AttemptRecord['error']>
  return record
}

const ATTEMPT_STATUS: Readonly<Record<string, AttemptStatus>> = {
  i: 'in-progress',
  s: 'succeeded',
  f: 'failed',
  c: 'cancelled',
  t: 'timed-out',
  r: 'released',
  u: 'suspended',
}

const OF_CORE = /^worker-([\da-f]{8})-([\da-f]{4})-([\da-f]{4})-([\da-f]{4})-([\da-f]{12})$/

/**
 * A worker's id as attempts keep it: without the separator, and that of a runner core, which is a UUID, without what all
 * of them share.
 *
 * @example
 * encodeWorkerId('a|b') // 'a%7Cb'
 */
export const encodeWorkerId = (workerId: string): string => {
  if (workerId !== latest.workerId) latest = { workerId, text: textOf(workerId) }
  return latest.text
}

/** Nearly all calls of a process are about one worker. */
let latest = { workerId: '', text: '' }

const textOf = (workerId: string): string => {
  const uuid = OF_CORE.exec(workerId)
  if (uuid) return `~${uuid.slice(1).join('')}`
  return workerId.replaceAll('%', '%25').replaceAll('|', '%7C').replaceAll('~', '%7E')
}

const decodeWorkerId = (text: string): string => {
  if (text.startsWith('~')) {
    const uuid = [text.slice(1, 9), text.slice(9, 13), text.slice(13, 17), text.slice(17, 21), text.slice(21)]
    return `worker-${uuid.join('-')}`
  }
  if (!text.includes('%')) return text
  return text.replaceAll('%7E', '~').replaceAll('%7C', '|').replaceAll('%25', '%')
}
