import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import type { TaskUpdate } from '@furystack/task-runner'
import { build } from 'esbuild'

import { type Deferred, deferred } from '../deferred.js'
import type { ApplicationSettings } from './openApplication.js'

const source = fileURLToPath(new URL('main.ts', import.meta.url))
/** Where its packages are found from, and Git does not look. */
const folder = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url))

/** Makes one file of the application, which starts faster than to translate it in each process; answers its path. */
export const buildApplication = async (onFinished: (end: () => Promise<void>) => void): Promise<string> => {
  await mkdir(folder, { recursive: true })
  const path = `${folder}application-${process.pid}.mjs`
  onFinished(() => rm(path, { force: true }))
  await build({
    entryPoints: [source],
    outfile: path,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
  })
  return path
}

/** What a process tells. */
type Told =
  | { readonly kind: 'ready' }
  | { readonly kind: 'start'; readonly taskId: string }
  | { readonly kind: 'holds'; readonly taskId: string }
  | { readonly kind: 'signal'; readonly taskId: string; readonly reason?: string }
  | { readonly kind: 'update'; readonly update: TaskUpdate }

/** A process of a service that works. */
export interface ApplicationProcess {
  readonly pid: number
  readonly service: string
  /** Its user on the Redis: whose connections are its own. */
  readonly user: string
  /** Tasks that its handlers have begun, by id. */
  readonly started: ReadonlySet<string>
  /** What its subscribers, one for each type, were told. */
  readonly updates: readonly TaskUpdate[]
  /** Why tasks that it held were to stop, by id. */
  readonly signals: ReadonlyMap<string, string | undefined>
  /** Resolves when it holds this task, or if it has before. */
  readonly held: (taskId: string) => Promise<void>
  readonly goOn: (taskId: string) => void
  readonly isAlive: () => boolean
  /** Ends it in good order; resolves with its exit code. */
  readonly terminate: () => Promise<number | null>
}

/** Starts one, and waits until it takes tasks. */
export const startProcess = async (
  path: string,
  service: string,
  { env, user, ...settings }: ApplicationSettings & { readonly env: NodeJS.ProcessEnv; readonly user: string },
  onFinished: (end: () => Promise<void>) => void,
): Promise<ApplicationProcess> => {
  const redisUrl = new URL(env.REDIS_URL ?? '')
  // A client signs in only with a password, whatever the user needs.
  redisUrl.username = user
  redisUrl.password = 'any'
  const child: ChildProcess = fork(path, [service, JSON.stringify(settings)], {
    env: { ...process.env, ...env, REDIS_URL: redisUrl.href, NODE_OPTIONS: '--no-warnings' },
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const terminate = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    return (await exited)[0]
  }
  onFinished(async () => void (await terminate('SIGKILL')))

  const started = new Set<string>()
  const updates: TaskUpdate[] = []
  const signals = new Map<string, string | undefined>()
  const holds = new Map<string, Deferred<void>>()
  const heldOf = (taskId: string): Deferred<void> => {
    const held = holds.get(taskId) ?? deferred()
    holds.set(taskId, held)
    return held
  }
  await new Promise<void>((resolve, reject) => {
    child.on('message', (told: Told) => {
      if (told.kind === 'ready') resolve()
      else if (told.kind === 'start') started.add(told.taskId)
      else if (told.kind === 'holds') heldOf(told.taskId).resolve()
      else if (told.kind === 'update') updates.push(told.update)
      else if (!signals.has(told.taskId)) signals.set(told.taskId, told.reason)
    })
    child.once('exit', (code) => reject(new Error(`the process ended with ${String(code)} before it was ready`)))
  })
  return {
    pid: child.pid ?? 0,
    service,
    user,
    started,
    updates,
    signals,
    held: (taskId) => heldOf(taskId).promise,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    goOn: (taskId) => void child.send({ goOn: taskId }),
    terminate: () => terminate('SIGTERM'),
  }
}
