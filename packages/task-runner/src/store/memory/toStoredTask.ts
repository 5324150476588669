import type { BlobRef } from '@furystack/blob-store'

import { Task } from '../../task/task.js'
import type { BlobUse } from '../recordBlob.js'
import type { StoredTask } from '../storedTask.js'
import type { MemoryRow } from './memoryRow.js'

const iso = (time: number): string => new Date(time).toISOString()
const parse = (json: string | undefined): unknown => (json === undefined ? undefined : JSON.parse(json))

const blobsOf = ({ blobs }: MemoryRow, use: BlobUse): BlobRef[] =>
  [...(blobs?.used.values() ?? [])].filter((used) => used.use === use).map(({ blob }) => ({ ...blob }))

/** A copy of a row that shares nothing with it. */
export const toStoredTask = (row: MemoryRow): StoredTask => {
  const { created } = row
  const task = new Task()
  task.id = created.id
  task.type = created.type
  task.handlerVersion = created.handlerVersion
  task.status = row.status
  task.payload = parse(row.payloadJson)
  if (row.resultJson !== undefined) task.result = parse(row.resultJson)
  if (row.error !== undefined) task.error = { ...row.error }
  if (row.progress !== undefined) {
    const { percent, metaJson, at } = row.progress
    task.progress = { percent, ...(metaJson !== undefined && { meta: parse(metaJson) }), updatedAt: iso(at) }
  }
  if (created.parentTaskId !== undefined) task.parentTaskId = created.parentTaskId
  task.childTaskIds = [...row.childTaskIds]
  if (created.submittedBy !== undefined) task.submittedBy = created.submittedBy
  task.submittedAt = iso(row.submittedAt)
  if (row.notBefore !== undefined) task.notBefore = iso(row.notBefore)
  if (row.startBefore !== undefined) task.startBefore = iso(row.startBefore)
  if (created.idempotencyKey !== undefined) task.idempotencyKey = created.idempotencyKey
  task.attempts = row.attempts.map(({ error, ...attempt }) => (error ? { ...attempt, error: { ...error } } : attempt))
  task.events = row.events.map((event) => ({ ...event }))
  task.producedBlobs = blobsOf(row, 'produced')
  task.consumedBlobs = blobsOf(row, 'consumed')
  task.retentionPolicy = { ...row.retentionPolicy }
  task.tags = [...created.tags]
  if (row.leaseUntil !== undefined) task.visibilityDeadline = iso(row.leaseUntil)
  // A pending row belongs to nobody; any other remembers its last worker.
  const last = row.attempts.at(-1)
  if (last !== undefined && row.status !== 'pending') task.workerId = last.workerId
  if (row.resumeToken !== undefined) task.resumeToken = row.resumeToken
  if (row.terminalAt !== undefined) task.terminalAt = iso(row.terminalAt)
  if (row.blobsSweptAt !== undefined) task.blobsSweptAt = iso(row.blobsSweptAt)
  return {
    task,
    failures: row.failures,
    losses: row.losses,
    ...(row.generationBase > 0 && { generation: row.generationBase + row.failures }),
    ...(row.deadReason !== 'failed' && { deadReason: row.deadReason }),
    ...(row.openChildren > 0 && { openChildren: row.openChildren }),
    ...(row.steps.size > 0 && { hasSteps: true }),
    ...(row.cancelReason !== undefined && { cancelReason: row.cancelReason }),
  }
}
