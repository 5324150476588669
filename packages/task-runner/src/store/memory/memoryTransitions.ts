import type { AttemptRecord, AttemptStatus } from '../../task/attemptRecord.js'
import type { MaxDeliveriesExceededError } from '../../errors/maxDeliveriesExceededError.js'
import type { TaskExpiredError } from '../../errors/taskExpiredError.js'
import { MAX_EVENTS_PER_TASK, type TaskEvent } from '../../task/taskEvent.js'
import { isTerminalStatus, type TaskStatus } from '../../task/taskStatus.js'
import type { CreateTask } from '../createTask.js'
import type { AttemptError, AttemptOutcome } from '../finishAttempt.js'
import type { MemoryRow } from './memoryRow.js'

/** The row that a creation makes at `now`. */
export const newRow = (input: CreateTask, now: number): MemoryRow => ({
  created: { ...input, tags: [...input.tags] },
  submittedAt: now,
  status: input.status,
  payloadJson: input.payloadJson,
  resultJson: undefined,
  error: undefined,
  progress: undefined,
  notBefore: input.notBefore,
  startBefore: input.startBefore,
  childTaskIds: [],
  attempts: [],
  events: [{ at: new Date(now).toISOString(), kind: 'submitted' }],
  leaseUntil: undefined,
  terminalAt: undefined,
  unstarted: 0,
  removeAt: undefined,
  retentionPolicy: { ...input.retentionPolicy },
  failures: 0,
  generationBase: 0,
  deadReason: 'failed',
  losses: 0,
  cancelReason: undefined,
  openChildren: 0,
  resumeToken: undefined,
  open: new Set(),
  steps: new Map(),
  blobs: undefined,
  blobsSweptAt: undefined,
})

/** Appends to the history of a row, of which the newest part is kept. */
export const logEvent = (row: MemoryRow, event: TaskEvent): void => {
  row.events.push(event)
  if (row.events.length > MAX_EVENTS_PER_TASK) row.events.shift()
}

/** The attempt that is running, if one is. */
export const openAttempt = (row: MemoryRow): AttemptRecord | undefined => {
  const last = row.attempts.at(-1)
  return last?.status === 'in-progress' ? last : undefined
}

/** Closes the running attempt, if one is. */
const closeAttempt = (row: MemoryRow, status: AttemptStatus, now: number, error?: AttemptError): void => {
  const attempt = openAttempt(row)
  if (attempt === undefined) return
  attempt.status = status
  attempt.finishedAt = new Date(now).toISOString()
  if (error !== undefined) attempt.error = { ...error }
}

/** Ends the lease and moves on. */
export const moveTo = (row: MemoryRow, status: TaskStatus, now: number): void => {
  row.status = status
  row.leaseUntil = undefined
  if (status !== 'waiting') {
    row.resumeToken = undefined
    row.open.clear()
  }
  if (isTerminalStatus(status)) row.terminalAt = now
}

/** Closes the running attempt, if one is, as one that its owner lost. */
export const loseAttempt = (row: MemoryRow, now: number): void => {
  if (openAttempt(row) !== undefined) row.losses++
  closeAttempt(row, 'timed-out', now)
}

/** Ends a lease that has run out: back to pending, or cancelled if that was asked for. */
export const expireLease = (row: MemoryRow, now: number): void => {
  loseAttempt(row, now)
  moveTo(row, row.status === 'cancelling' ? 'cancelled' : 'pending', now)
}

/** When a row has to be begun that has not been. */
export const deadlineOf = ({ startBefore = Infinity, attempts, unstarted }: MemoryRow): number =>
  attempts.length > unstarted ? Infinity : startBefore

/** Ends a row for good that is not to be run (again). */
export const failUnrun = (row: MemoryRow, error: MaxDeliveriesExceededError | TaskExpiredError, now: number): void => {
  row.error = { name: error.name, message: error.message }
  row.deadReason = error.name === 'TaskExpiredError' ? 'expired' : 'lost'
  moveTo(row, 'failed', now)
}

/** Makes a failed row pending again, as if it had just been submitted; what it has been through stays. */
export const resendRow = (row: MemoryRow, fromScratch: boolean, now: number): void => {
  row.generationBase += row.failures + 1
  row.failures = 0
  row.losses = 0
  row.error = undefined
  row.progress = undefined
  row.terminalAt = undefined
  row.blobsSweptAt = undefined
  row.startBefore = undefined
  if (fromScratch) row.steps.clear()
  const { deadReason: reason, attempts } = row
  row.deadReason = 'failed'
  logEvent(row, { at: new Date(now).toISOString(), kind: 'resent', reason, attempts: attempts.length })
  becomePending(row, 0, now)
  row.notBefore = now
}

const cancelOpen = (row: MemoryRow, now: number, error?: AttemptError): void => {
  closeAttempt(row, 'cancelled', now, error)
  moveTo(row, 'cancelled', now)
}

const becomePending = (row: MemoryRow, delayMs: number, now: number): void => {
  row.notBefore = delayMs > 0 ? now + delayMs : undefined
  moveTo(row, 'pending', now)
}

const fail = (row: MemoryRow, { error, retryDelayMs }: AttemptOutcome & { kind: 'failed' }, now: number): void => {
  const { attempt = 0 } = openAttempt(row) ?? {}
  closeAttempt(row, 'failed', now, error)
  row.failures++
  const willRetry = retryDelayMs !== undefined
  logEvent(row, { at: new Date(now).toISOString(), kind: 'attempt-failed', attempt, willRetry })
  if (willRetry) return becomePending(row, retryDelayMs, now)
  row.error = { name: error.name, message: error.message }
  moveTo(row, 'failed', now)
}

const suspend = (
  row: MemoryRow,
  awaiting: readonly string[],
  now: number,
  isOpen: (taskId: string) => boolean,
): void => {
  closeAttempt(row, 'suspended', now)
  row.open = new Set(awaiting.filter(isOpen))
  if (row.open.size === 0) return becomePending(row, 0, now)
  row.notBefore = undefined
  row.resumeToken = JSON.stringify(awaiting)
  moveTo(row, 'waiting', now)
}

/**
 * What the end of an attempt makes of its row. A cancel that was asked for comes before whatever the handler did.
 * `isOpen` tells of a child whether it has yet to end.
 */
export const applyOutcome = (
  row: MemoryRow,
  outcome: AttemptOutcome,
  now: number,
  isOpen: (taskId: string) => boolean,
): void => {
  if (row.status === 'cancelling') return cancelOpen(row, now, 'error' in outcome ? outcome.error : undefined)
  switch (outcome.kind) {
    case 'succeeded':
      row.resultJson = outcome.resultJson
      closeAttempt(row, 'succeeded', now)
      return moveTo(row, 'succeeded', now)
    case 'failed':
      return fail(row, outcome, now)
    case 'cancelled':
      return cancelOpen(row, now, outcome.error)
    case 'released':
      closeAttempt(row, 'released', now)
      if (outcome.unstarted === true) row.unstarted++
      return becomePending(row, outcome.delayMs ?? 0, now)
    case 'suspended':
      return suspend(row, outcome.awaiting, now, isOpen)
    case 'parked':
      closeAttempt(row, 'suspended', now)
      return becomePending(row, outcome.delayMs, now)
  }
}
