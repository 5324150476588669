import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { onTestFinished } from 'vitest'

import { redisUrl } from './redis.js'

/** What a worker process is told at its start. */
export interface WorkerProcessOptions {
  readonly prefix: string
  readonly concurrency: number
  readonly options?: Record<string, unknown>
  readonly tags?: string[]
  readonly url?: string
  /** Whether it shares a bus with other services of the prefix. */
  readonly hasBus?: boolean
}

/** A worker in a process of its own, with the handlers of workerMain. */
export interface WorkerProcess {
  readonly child: ChildProcess
  readonly workerId: string
  /** Starts as the handlers told of them, oldest first. */
  readonly starts: ReadonlyArray<{ taskId: string; type: string }>
  /** Signals to stop as the handler of `report` told of them: the name of the error, and why. */
  readonly signals: ReadonlyArray<{ taskId: string; name: string; reason: string | undefined }>
  kill(signal?: NodeJS.Signals): Promise<void>
}

/** What it tells. */
type Told =
  | { readonly kind: 'ready'; readonly workerId: string }
  | { readonly kind: 'start'; readonly taskId: string; readonly type: string }
  | { readonly kind: 'signal'; readonly taskId: string; readonly name: string; readonly reason?: string | undefined }

const main = fileURLToPath(new URL('./workerMain.ts', import.meta.url))

/** Starts a worker process and waits until it takes tasks; it ends with the test. */
export const startWorkerProcess = async (options: WorkerProcessOptions): Promise<WorkerProcess> => {
  const child = fork(main, [JSON.stringify({ url: redisUrl(), ...options })], { execArgv: ['--import', 'tsx'] })
  const exited = once(child, 'exit')
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await exited
  }
  onTestFinished(() => kill())

  const starts: Array<{ taskId: string; type: string }> = []
  const signals: Array<{ taskId: string; name: string; reason: string | undefined }> = []
  const workerId = await new Promise<string>((resolve, reject) => {
    child.on('message', (told: Told) => {
      if (told.kind === 'ready') resolve(told.workerId)
      else if (told.kind === 'start') starts.push({ taskId: told.taskId, type: told.type })
      else signals.push({ taskId: told.taskId, name: told.name, reason: told.reason })
    })
    child.once('exit', (code) => {
      reject(new Error(`the worker process ended with ${String(code)} before it was ready`))
    })
  })
  return { child, workerId, starts, signals, kill }
}
