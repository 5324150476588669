import { randomUUID } from 'node:crypto'

import { type CreateTask, DEFAULT_RETENTION_POLICY } from '@furystack/task-runner'

/** What creates a pending task, but for what is said otherwise. */
export const newTask = (more: Partial<CreateTask> = {}): CreateTask => ({
  id: randomUUID(),
  type: 'mail',
  handlerVersion: 1,
  status: 'pending',
  payloadJson: '{"n":1}',
  tags: [],
  retentionPolicy: DEFAULT_RETENTION_POLICY,
  ...more,
})
