export { DEFAULT_RETENTION_POLICY } from './task/taskRetentionPolicy.js'
export { isTerminalStatus, TERMINAL_STATUSES } from './task/taskStatus.js'
export { MAX_EVENTS_PER_TASK } from './task/taskEvent.js'
export { Task } from './task/task.js'
export { workerSatisfiesTags } from './queue/workerSatisfiesTags.js'

export type { AttemptError, AttemptOutcome, FinishAttempt, FinishResult } from './store/finishAttempt.js'
export type { AttemptRecord, AttemptStatus } from './task/attemptRecord.js'
export type { BeginAttempt, BeginResult } from './store/beginAttempt.js'
export type { CancelResult, CancelTask } from './store/cancelTask.js'
export type { ClaimOutcome } from './queue/claimOutcome.js'
export type {
  ClaimedTask,
  EnqueueInput,
  IdempotencyLeaseInput,
  QueueAdapter,
  QueueAdapterCapabilities,
  WorkerSubscription,
} from './queue/queueAdapter.js'
export type { CreateResult, CreateTask } from './store/createTask.js'
export type { ExtendAttempt, ExtendResult } from './store/extendAttempt.js'
export type { JointSteps } from './store/jointSteps.js'
export type { StartResult, StartTask } from './store/startTask.js'
export type { StoredTask } from './store/storedTask.js'
export type { TaskError, TaskProgress } from './task/task.js'
export type { TaskEvent } from './task/taskEvent.js'
export type { TaskRetentionPolicy } from './task/taskRetentionPolicy.js'
export type { TaskStatus, TerminalStatus } from './task/taskStatus.js'
export type { TaskTreeNode } from './task/taskTreeNode.js'
export type { TaskUpdate } from './task/taskUpdate.js'
