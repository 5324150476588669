import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'
import { type Deferred, deferred } from '../deferred.js'

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

/** What a process told of a task. */
export interface TaskNote {
  readonly kind: 'start' | 'holds'
  readonly taskId: string
  readonly type?: string
}

/** A process of a service that works. */
export interface ApplicationProcess {
  readonly pid: number
  readonly service: string
  /** Tasks that its handlers have begun, by id. */
  readonly started: ReadonlySet<string>
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
  env: NodeJS.ProcessEnv,
  onFinished: (end: () => Promise<void>) => void,
): Promise<ApplicationProcess> => {
  const child: ChildProcess = fork(path, [service], { env: { ...process.env, ...env, NODE_OPTIONS: '--no-warnings' } })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const terminate = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    return (await exited)[0]
  }
  onFinished(async () => void (await terminate('SIGKILL')))

  const started = new Set<string>()
  const holds = new Map<string, Deferred<void>>()
  const heldOf = (taskId: string): Deferred<void> => {
    const held = holds.get(taskId) ?? deferred()
    holds.set(taskId, held)
    return held
  }
  await new Promise<void>((resolve, reject) => {
    child.on('message', (message: TaskNote | { kind: 'ready' }) => {
      if (message.kind === 'ready') return resolve()
      if (message.kind === 'start') started.add(message.taskId)
      else heldOf(message.taskId).resolve()
    })
    child.once('exit', (code) => reject(new Error(`the process ended with ${String(code)} before it was ready`)))
  })
  return {
    pid: child.pid ?? 0,
    service,
    started,
    held: (taskId) => heldOf(taskId).promise,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    goOn: (taskId) => void child.send({ goOn: taskId }),
    terminate: () => terminate('SIGTERM'),
  }
}
