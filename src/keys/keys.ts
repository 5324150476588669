import { InvalidArgumentError } from '@furystack/task-runner'

import type { Lane } from './lane.js'

/**
 * Every key that the library uses, in one place. All of them begin with `${prefix}tasks:`; a prefix with a hash tag
 * (`{svc-a}/`) puts all of them into one slot of a Redis Cluster.
 *
 * | key | kind | what it holds |
 * | --- | --- | --- |
 * | `queue:<type>:v<version>` | stream | the entries of a lane; group `runner`; a settled entry is deleted |
 * | `queue:<type>:v<version>:tags=<tags>` | stream | the same for a set of tags |
 * | `bell:<lane>` | list, at most one element | rung when the lane may have something to read; idle workers block on it |
 * | `capbell:<type>` | the same | rung when a place under the type's cap is freed |
 * | `bell` | the same | rung when the schedule has a new earliest entry |
 * | `wake:<workerId>` | the same, with expiry | rung to end the wait of that worker |
 * | `scheduler` | sorted set | parked tasks, member `{taskId, type, handlerVersion}`, score = due time in epoch ms |
 * | `promoter` | string with expiry | which worker promotes due tasks at the moment |
 * | `idem:<type>:<key>` | string with expiry | idempotency lease; value = task id |
 * | `held` | hash | task id by key of those leases whose task is not over, which holds the key beyond the lease |
 * | `cap:<type>` | sorted set | holders of fleet-cap places, score = expiry in epoch ms |
 * | `lanes` | set | names of the lanes that have ever been written to |
 * | `serving` | sorted set | lanes by when the last living worker that reads them has to have said so again, epoch ms |
 * | `unserved` | hash | lanes that have been told to wait in vain, with the time since when, epoch ms |
 * | `paused` | set | names of paused lanes, `*` for the fleet |
 * | `row:<taskId>` | hash | the task row |
 * | `row:<taskId>:events` | list, at most 1000 | events that do not follow from the row itself |
 * | `row:<taskId>:children` | list | ids of the task's children, in the order of their creation |
 * | `row:<taskId>:open` | set | while waiting: the awaited children that have not ended |
 * | `row:<taskId>:blobs` | hash | blobs of the task, by `p\|<store>\|<key>` or `c\|…`; stays until they have been dealt with |
 * | `row:<taskId>:steps` | hash | recorded steps of the handler by name: `recorded at\|JSON` |
 * | `orphans` | sorted set | ended tasks whose open children have yet to be cancelled, score = since when, epoch ms |
 * | `retention` | sorted set | ended tasks with children, score = when they are to be removed; rows without expire |
 * | `blobs:<store>` | sorted set | ended tasks with blobs in a blob store, score = when these are to be dealt with |
 * | `blobusers:<store>\|<key>` | sorted set | tasks that a blob was given to, score = until when |
 * | `blobgone:<store>\|<key>` | string with expiry | there while a blob is being deleted |
 * | `unqueued`, `leases` | sorted sets | used only where rows are bound to another transport |
 * | `deadlines` | sorted set | tasks that have yet to begin and when they have to, in epoch ms |
 * | `leader:<role>` | string with expiry | which process does the periodic work of that name at the moment |
 * | `deadletters`, `deadletters:<type>` | sorted sets | dead letters by the time of their end, in epoch ms |
 * | `unreadable` | stream, about 10000 | entries that could not be read, with their raw fields |
 */
export interface Keys {
  readonly root: string
  readonly scheduler: string
  readonly lanes: string
  readonly scheduleBell: string
  readonly leases: string
  readonly unqueued: string
  readonly deadlines: string
  readonly retention: string
  readonly unreadable: string
  readonly orphans: string
  queue(lane: Lane): string
  bell(lane: Lane): string
  capBell(type: string): string
  /** What only one worker listens to. */
  workerBell(workerId: string): string
  row(taskId: string): string
  steps(taskId: string): string
  /** What is due in a blob store, whose name is encoded. */
  dueBlobs(store: string): string
  idempotency(type: string, key: string): string
  /** Those of a type, or all. */
  deadLetters(type: string | undefined): string
  leader(role: string): string
}

/**
 * Names the keys below a prefix.
 *
 * @example
 * keys('svc-a/').queue(lane('mail', 1)) // 'svc-a/tasks:queue:mail:v1'
 */
export const keys = (prefix: string): Keys => {
  const root = `${prefix}tasks:`
  return {
    root,
    scheduler: `${root}scheduler`,
    lanes: `${root}lanes`,
    scheduleBell: `${root}bell`,
    leases: `${root}leases`,
    unqueued: `${root}unqueued`,
    deadlines: `${root}deadlines`,
    retention: `${root}retention`,
    unreadable: `${root}unreadable`,
    orphans: `${root}orphans`,
    queue: (lane) => `${root}queue:${lane.name}`,
    bell: (lane) => `${root}bell:${lane.name}`,
    capBell: (type) => `${root}capbell:${type}`,
    workerBell: (workerId) => `${root}wake:${workerId}`,
    row: (taskId) => `${root}row:${isRowId(taskId) ? taskId : taskId.replace(/:(?=\w+$)/, '%3A')}`,
    steps: (taskId) => `${root}row:${taskId}:steps`,
    dueBlobs: (store) => `${root}blobs:${store}`,
    leader: (role) => `${root}leader:${role}`,
    deadLetters: (type) =>
      `${root}deadletters${type === undefined ? '' : `:${encodeType(type).replaceAll('|', '%7C')}`}`,
    idempotency: (type, key) => `${root}idem:${encodeType(type)}:${key}`,
  }
}

/** What lies beside a row, behind its key. */
const BESIDE_ROWS = ['events', 'children', 'open', 'steps', 'blobs']
const BESIDE_A_ROW = new RegExp(`:(?:${BESIDE_ROWS.join('|')})$`)

/**
 * Whether a task may have this id: `a:steps` would have its row where the steps of `a` lie.
 *
 * @example
 * isRowId('a:steps') // false
 */
export const isRowId = (taskId: string): boolean => !BESIDE_A_ROW.test(taskId)

/**
 * Refuses an id under which no row can be.
 *
 * @throws {InvalidArgumentError}
 *
 * @example
 * checkRowId('a:steps') // throws
 */
export const checkRowId = (taskId: string): void => {
  if (!isRowId(taskId)) throw new InvalidArgumentError('id', taskId, 'none that names what lies beside a row')
}

/**
 * Types without `:` and `%` stay as they are; the others are encoded, so that type and key cannot run together.
 *
 * @example
 * encodeType('a:b') // 'a%3Ab'
 */
export const encodeType = (type: string): string => type.replaceAll('%', '%25').replaceAll(':', '%3A')
