import {
  type AttemptRecord,
  type CreateTask,
  isDefaultPolicy,
  isoTime,
  MAX_EVENTS_PER_TASK,
  type StoredTask,
  Task,
  type TaskError,
  type TaskEvent,
  type TaskStatus,
} from '@furystack/task-runner'

import { decodeAttempt } from './attemptText.js'
import { decodeBlobs } from './blobText.js'
import { decodePolicy, encodePolicy, keepTextOf } from './keepText.js'
import { textFields, textOf } from './textFields.js'

/**
 * The fields of a row's hash. Names are short because there are many rows; fields that would say nothing are absent.
 *
 * | field | meaning | | field | meaning |
 * | --- | --- | --- | --- | --- |
 * | `t` | type | | `s` | status |
 * | `v` | handler version | | `run` | number of the present or last attempt |
 * | `c` | submitted at | | `a<n>` | attempt n, see {@link decodeAttempt} |
 * | `p`, `p<n>` | payload, JSON, see {@link textFields} | | `d` | end of the lease; with `+`: after the present attempt began |
 * | `r`, `r<n>` | result, likewise | | `f`, `l` | failures, losses |
 * | `e` | final error, JSON | | `x` | terminal at |
 * | `n` | not before | | `m` | member of the schedule, of a draft or while parked |
 * | `k` | idempotency key | | `g`, `gx` | progress as JSON, stored at |
 * | `pa` | parent | | `cr` | reason of the cancel |
 * | `by` | submitter | | `tg` | tags, JSON |
 * | `rp` | retention policy, JSON, unless it is the default | | `oc` | children that have not ended |
 * | `ln` | name of the lane, of a draft or while waiting | | `w` | awaited children, JSON, while waiting |
 * | `st` | steps have been recorded | | `sb` | start before |
 * | `us` | attempts that were given back before a handler had them | | `kp` | times of the policy, see {@link keepTextOf} |
 * | `dr` | why it failed, if not by its last attempt | | `fg` | what the generation of steps is ahead of the failures |
 * | `bl` | stores that its blobs are in, JSON, see blobsLua | | `bs` | blobs dealt with at |
 *
 * Times are epoch milliseconds. The events `submitted`, `claimed` and `attempt-failed` follow from the other fields and
 * are not stored; the rest lie in the list `row:<id>:events`, and the ids of the children in `row:<id>:children`.
 */
export const rowFieldsOf = (input: CreateTask): string[] => {
  const fields = ['t', input.type, 'v', String(input.handlerVersion), 's', input.status]
  pushFurtherFields(fields, input)
  return fields
}

/** Adds the fields of a new row that come after type, version and status. */
export const pushFurtherFields = (fields: string[], input: CreateTask): void => {
  if (input.payloadJson !== undefined) fields.push(...textFields('p', input.payloadJson))
  if (input.notBefore !== undefined) fields.push('n', String(input.notBefore))
  if (input.startBefore !== undefined) fields.push('sb', String(input.startBefore))
  if (input.idempotencyKey !== undefined) fields.push('k', input.idempotencyKey)
  if (input.parentTaskId !== undefined) fields.push('pa', input.parentTaskId)
  if (input.submittedBy !== undefined) fields.push('by', input.submittedBy)
  if (input.tags.length > 0) fields.push('tg', JSON.stringify(input.tags))
  if (input.isPolicyGiven === true || !isDefaultPolicy(input.retentionPolicy)) {
    fields.push('rp', encodePolicy(input.retentionPolicy), 'kp', keepTextOf(input.retentionPolicy))
  }
}

/** What lies beside a row; the blobs as `HGETALL` lists them. */
export interface BesideRow {
  readonly events?: readonly string[]
  readonly children?: readonly string[]
  readonly blobs?: readonly string[]
}

/**
 * Reads a row from its fields, as `HGETALL` lists them, and what lies beside them: stored events, children and blobs.
 *
 * @example
 * decodeRow('a', ['t', 'mail', 'v', '1', 's', 'pending', 'c', '0']).task.status // 'pending'
 */
export const decodeRow = (
  taskId: string,
  flat: readonly string[],
  { events = [], children = [], blobs = [] }: BesideRow = {},
): StoredTask => {
  const row = new Map<string, string>()
  for (let i = 0; i + 1 < flat.length; i += 2) row.set(flat[i] as string, flat[i + 1] as string)

  const task = new Task()
  const status = row.get('s') as TaskStatus
  const attempts = attemptsOf(row)
  task.id = taskId
  task.type = row.get('t') ?? ''
  task.handlerVersion = Number(row.get('v'))
  task.status = status
  task.payload = parse(textOf(row, 'p'))
  task.submittedAt = iso(row.get('c'))
  task.childTaskIds = [...children]
  task.attempts = attempts
  task.producedBlobs = []
  task.consumedBlobs = []
  for (const { use, blob } of blobs.length > 0 ? decodeBlobs(blobs) : []) {
    task[use === 'produced' ? 'producedBlobs' : 'consumedBlobs'].push(blob)
  }
  task.tags = (parse(row.get('tg')) as string[] | undefined) ?? []
  task.retentionPolicy = decodePolicy(row.get('rp'))
  if (row.has('r')) task.result = parse(textOf(row, 'r'))
  if (row.has('e')) task.error = parse(row.get('e')) as TaskError
  if (row.has('n')) task.notBefore = iso(row.get('n'))
  if (row.has('sb')) task.startBefore = iso(row.get('sb'))
  const resumeToken = row.get('w')
  if (resumeToken !== undefined) task.resumeToken = resumeToken
  if (row.has('x')) task.terminalAt = iso(row.get('x'))
  if (row.has('bs')) task.blobsSweptAt = iso(row.get('bs'))
  const progress = progressOf(row)
  if (progress) task.progress = progress
  const [key, parent, submitter] = [row.get('k'), row.get('pa'), row.get('by')]
  if (key !== undefined) task.idempotencyKey = key
  if (parent !== undefined) task.parentTaskId = parent
  if (submitter !== undefined) task.submittedBy = submitter
  const last = attempts.at(-1)
  if (last && status !== 'pending') task.workerId = last.workerId
  if (status === 'running' || status === 'cancelling') task.visibilityDeadline = isoTime(leaseEnd(row))
  const isOver = status === 'failed' && !row.has('dr')
  task.events = eventsOf(task, events, isOver ? attempts.length : undefined)

  const cancelReason = row.get('cr')
  return {
    task,
    failures: Number(row.get('f') ?? 0),
    losses: Number(row.get('l') ?? 0),
    ...(row.has('fg') && { generation: Number(row.get('fg')) + Number(row.get('f') ?? 0) }),
    ...(row.has('dr') && { deadReason: row.get('dr') as 'lost' | 'expired' }),
    ...(cancelReason !== undefined && { cancelReason }),
    ...(Number(row.get('oc') ?? 0) > 0 && { openChildren: Number(row.get('oc')) }),
    ...(row.has('st') && { hasSteps: true }),
  }
}

const leaseEnd = (row: ReadonlyMap<string, string>): number => {
  const told = row.get('d') ?? '0'
  if (!told.startsWith('+')) return Number(told)
  return Number(told) + parseInt(row.get(`a${row.get('run') ?? ''}`) ?? '0', 10)
}

const attemptsOf = (row: ReadonlyMap<string, string>): AttemptRecord[] => {
  const attempts: AttemptRecord[] = []
  const terminal = row.get('x')
  const terminalMs = terminal === undefined ? undefined : Number(terminal)
  for (let attempt = 1, text; (text = row.get(`a${String(attempt)}`)) !== undefined; attempt++) {
    const record = decodeAttempt(attempt, text, terminalMs)
    if (record) attempts.push(record)
  }
  return attempts
}

const progressOf = (row: ReadonlyMap<string, string>): Task['progress'] => {
  const text = row.get('g')
  if (text === undefined) return undefined
  const { percent, meta } = parse(text) as { percent: number; meta?: unknown }
  return { percent, updatedAt: iso(row.get('gx')), ...(meta !== undefined && { meta }) }
}

const eventsOf = (task: Task, texts: readonly string[], endedWith: number | undefined): TaskEvent[] => {
  const stored = texts.map(decodeEvent)
  /** Attempts whose failure was the end. */
  const last = new Set([endedWith])
  for (const event of stored) if (event.kind === 'resent' && event.reason === 'failed') last.add(event.attempts)
  const events: TaskEvent[] = [{ kind: 'submitted', at: task.submittedAt }]
  for (const { attempt, startedAt, finishedAt, status, workerId } of task.attempts) {
    events.push({ kind: 'claimed', at: startedAt, workerId })
    if (status === 'failed' && finishedAt) {
      events.push({ kind: 'attempt-failed', at: finishedAt, attempt, willRetry: !last.has(attempt) })
    }
  }
  if (stored.length === 0) return events.slice(-MAX_EVENTS_PER_TASK)
  events.push(...stored)
  // Sorting is stable, so what happened in one millisecond stays in its order.
  return events.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).slice(-MAX_EVENTS_PER_TASK)
}

const decodeEvent = (text: string): TaskEvent => {
  const { at, ...event } = JSON.parse(text) as TaskEvent & { at: unknown }
  return { ...event, at: iso(String(at)) }
}

const parse = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text))

const iso = (ms: string | undefined): string => isoTime(Number(ms ?? 0))
