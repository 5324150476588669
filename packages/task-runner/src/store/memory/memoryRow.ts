import type { AttemptRecord } from '../../task/attemptRecord.js'
import type { TaskError } from '../../task/task.js'
import type { TaskEvent } from '../../task/taskEvent.js'
import type { TaskRetentionPolicy } from '../../task/taskRetentionPolicy.js'
import type { TaskStatus } from '../../task/taskStatus.js'
import type { CreateTask } from '../createTask.js'
import type { RecordedStep } from '../recordStep.js'
import type { MemoryBlobRecord } from './memoryBlobs.js'

/** A row as memory keeps it: what came as JSON text stays text, times are epoch milliseconds. */
export interface MemoryRow {
  readonly created: CreateTask
  readonly submittedAt: number
  status: TaskStatus
  payloadJson: string | undefined
  resultJson: string | undefined
  error: TaskError | undefined
  progress: { percent: number; metaJson: string | undefined; at: number } | undefined
  notBefore: number | undefined
  startBefore: number | undefined
  readonly childTaskIds: string[]
  readonly attempts: AttemptRecord[]
  readonly events: TaskEvent[]
  /** End of the present lease. */
  leaseUntil: number | undefined
  terminalAt: number | undefined
  /** Attempts that were given back before a handler had them. */
  unstarted: number
  /** When the row is to be removed, once that is known. */
  removeAt: number | undefined
  retentionPolicy: Readonly<TaskRetentionPolicy>
  failures: number
  /** What the generation of steps is ahead of the failures. */
  generationBase: number
  /** Why it is a dead letter, if it is one. */
  deadReason: 'failed' | 'lost' | 'expired'
  losses: number
  cancelReason: string | undefined
  openChildren: number
  /** While waiting: the awaited children as JSON, and those of them that have not ended. */
  resumeToken: string | undefined
  open: Set<string>
  readonly steps: Map<string, RecordedStep>
  blobs: MemoryBlobRecord | undefined
  blobsSweptAt: number | undefined
}
