import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import type { TaskUpdate } from '@furystack/task-runner'
import { onTestFinished } from 'vitest'

import { deferred } from './deferred.js'
import { redisUrl } from './redis.js'

/** What a watcher process is told to do. */
export type WatcherRequest =
  | { readonly kind: 'watch'; readonly taskId: string }
  | { readonly kind: 'cancel'; readonly taskId: string; readonly reason: string }

/** What it tells. */
export type WatcherTold =
  | { readonly kind: 'ready' | 'cancelled' | 'over' }
  | { readonly kind: 'update'; readonly update: TaskUpdate }
  | { readonly kind: 'error'; readonly error: string }

/** A process of its own that watches one task, and cancels it on demand. */
export interface WatcherProcess {
  readonly pid: number
  /** What it has been told of the task, oldest first. */
  readonly updates: readonly TaskUpdate[]
  /** Resolves when the task is over. */
  readonly watch: (taskId: string) => Promise<void>
  readonly cancel: (taskId: string, reason: string) => Promise<void>
}

const main = fileURLToPath(new URL('./watcherMain.ts', import.meta.url))

/** Starts a watcher process, with a bus, and waits until it is ready; it ends with the test. */
export const startWatcherProcess = async (
  prefix: string,
  options: Record<string, unknown> = {},
): Promise<WatcherProcess> => {
  const child = fork(main, [JSON.stringify({ url: redisUrl(), prefix, options })], { execArgv: ['--import', 'tsx'] })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })

  const updates: TaskUpdate[] = []
  const told = { ready: deferred(), cancelled: deferred(), over: deferred() }
  const fail = (error: Error): void => {
    for (const { promise, reject } of Object.values(told)) {
      // Not each of them is waited for.
      promise.catch(() => undefined)
      reject(error)
    }
  }
  child.on('message', (message: WatcherTold) => {
    if (message.kind === 'update') updates.push(message.update)
    else if (message.kind === 'error') fail(new Error(message.error))
    else told[message.kind].resolve()
  })
  child.once('exit', () => fail(new Error('the watcher process has ended')))
  const ask = (request: WatcherRequest): void => void child.send(request)

  await told.ready.promise
  return {
    pid: child.pid ?? 0,
    updates,
    watch: (taskId) => {
      ask({ kind: 'watch', taskId })
      return told.over.promise
    },
    cancel: (taskId, reason) => {
      ask({ kind: 'cancel', taskId, reason })
      return told.cancelled.promise
    },
  }
}
