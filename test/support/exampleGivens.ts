import type { BlobStore } from '@furystack/blob-store'
import type { CrossNodeBus } from '@furystack/cross-node-bus'
import type { AsyncToken, Injector, Token } from '@furystack/inject'
import type { Claim, ClaimSource, LaneBook, LaneReading, ReadRequest, Report } from '@furystack/redis-task-runner'
import type { VirtualLanePort } from '@furystack/redis-task-runner/testing'
import type {
  BeginAttempt,
  Clock as RunnerClock,
  CreateTask,
  FinishAttempt,
  QueueAdapter,
  Task,
  TaskContext,
  TaskHandlerDescriptor,
  TaskRunner,
  TaskRunnerTelemetry,
  TaskStore,
} from '@furystack/task-runner'
import type { createClient } from 'redis'
import type { Observable } from 'rxjs'

import type { Connection } from '../../src/connection/connection.js'
import type { Turns } from '../../src/redis/turns.js'

/**
 * What the examples of the docstrings take for granted, by its usual name. What stands for an application is named after
 * what it does there.
 */

// A service as it is wired up.
export declare const client: ReturnType<typeof createClient>
export declare const injector: Injector
export declare const runner: TaskRunner
export declare const bus: CrossNodeBus
export declare const blobStore: BlobStore
export declare const store: TaskStore
export declare const telemetry: TaskRunnerTelemetry
export declare const adapter: QueueAdapter
export declare const clock: RunnerClock
export declare const logger: Pick<Console, 'warn' | 'error'>

// Tasks, and what runs them.
export declare const taskId: string
export declare const task: Task
export declare const parent: Task
export declare const ctx: TaskContext<unknown>
export declare const sendMail: TaskHandlerDescriptor<{ to: string }, { sent: boolean }>
export declare const crawl: TaskHandlerDescriptor<{ url: string }, string[]>

// What a store is asked for.
export declare const draft: CreateTask
export declare const begin: BeginAttempt
export declare const finish: FinishAttempt

// Lanes.
export declare const port: VirtualLanePort
export declare const lanes: readonly LaneReading[]
export declare const claim: Claim
export declare const claims: ClaimSource
export declare const book: LaneBook
export declare const report: Report
export declare const stop$: Observable<void>
export declare const work: (claim: Claim) => Observable<void>

// Within the library.
export declare const connection: Connection
export declare const turns: Turns
export declare const request: ReadRequest

// Services of an application.
export interface Clock {
  now(): number
}
export declare const Clock: Token<Clock, 'singleton'>
export interface Database extends AsyncDisposable {
  query(text: string): Promise<unknown>
}
export declare const Database: AsyncToken<Database, 'singleton'>
export declare const error: unknown
