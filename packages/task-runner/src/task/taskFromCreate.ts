import type { CreateTask } from '../store/createTask.js'
import { isoTime } from '../time/isoTime.js'
import { Task } from './task.js'

/** The row that a creation has just made, `at` epoch milliseconds, without asking the store for it. */
export const taskFromCreate = (input: CreateTask, at: number): Task => {
  const task = new Task()
  const submittedAt = isoTime(at)
  task.id = input.id
  task.type = input.type
  task.handlerVersion = input.handlerVersion
  task.status = input.status
  task.payload = input.payloadJson === undefined ? undefined : JSON.parse(input.payloadJson)
  if (input.parentTaskId !== undefined) task.parentTaskId = input.parentTaskId
  task.childTaskIds = []
  if (input.submittedBy !== undefined) task.submittedBy = input.submittedBy
  task.submittedAt = submittedAt
  if (input.notBefore !== undefined) task.notBefore = new Date(input.notBefore).toISOString()
  if (input.startBefore !== undefined) task.startBefore = isoTime(input.startBefore)
  if (input.idempotencyKey !== undefined) task.idempotencyKey = input.idempotencyKey
  task.attempts = []
  task.events = [{ at: submittedAt, kind: 'submitted' }]
  task.producedBlobs = []
  task.consumedBlobs = (input.consumedBlobs ?? []).map((blob) => ({ ...blob }))
  task.retentionPolicy = { ...input.retentionPolicy }
  task.tags = [...input.tags]
  return task
}
