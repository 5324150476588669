import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { SLOTS } from './settings.js'
import type { WorkerMessage } from './workerMessage.js'

/** What a slot of a worker does. */
export interface Slot {
  readonly taskId: string
  percent: number
}

/** A worker process, as seen from here. */
export interface FleetWorker {
  readonly name: string
  readonly process: ChildProcess
  readonly pid: number
  /** The name that attempts carry; known once it is ready. */
  workerId: string | undefined
  state: 'starting' | 'working' | 'killed' | 'ended'
  /** When it ended without having been asked to; epoch milliseconds. */
  diedAt: number | undefined
  readonly slots: (Slot | undefined)[]
  /** Tasks that it has brought to an end. */
  done: number
}

/** Who wants to know what happens in a fleet. */
export interface FleetListener {
  onMessage(worker: FleetWorker, message: WorkerMessage): void
  /** Output of a worker, which is always unexpected. */
  onOutput(worker: FleetWorker, line: string): void
  /** A worker is gone, and nobody has told it to go. */
  onCrash(worker: FleetWorker, how: string): void
}

const STOP_MS = 6_000

/** Worker processes: starts them, follows what they do, kills one, ends them all. */
export class Fleet implements AsyncDisposable {
  readonly workers: readonly FleetWorker[]
  #isStopping = false

  constructor(
    size: number,
    connection: { readonly url: string; readonly prefix: string },
    private readonly listener: FleetListener,
  ) {
    this.workers = Array.from({ length: size }, (_, index) => this.#start(`worker-${index + 1}`, connection))
  }

  get alive(): FleetWorker[] {
    return this.workers.filter(({ state }) => state === 'starting' || state === 'working')
  }

  /** Tasks that have ended. */
  get done(): number {
    return this.workers.reduce((sum, { done }) => sum + done, 0)
  }

  find(workerId: string | undefined): FleetWorker | undefined {
    return this.workers.find((worker) => worker.workerId === workerId)
  }

  /** Ends a worker the hard way; resolves when it is gone. */
  async kill(worker: FleetWorker): Promise<void> {
    worker.state = 'killed'
    await end(worker, 'SIGKILL')
  }

  /** Lets all workers finish what they are doing and end. Answers those that did not end in order. */
  async stop(): Promise<FleetWorker[]> {
    this.#isStopping = true
    const working = this.alive
    await Promise.all(
      working.map(async (worker) => {
        const timer = setTimeout(() => worker.process.kill('SIGKILL'), STOP_MS)
        await end(worker, 'SIGTERM')
        clearTimeout(timer)
      }),
    )
    return working.filter(({ process: { exitCode } }) => exitCode !== 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #start(name: string, { url, prefix }: { readonly url: string; readonly prefix: string }): FleetWorker {
    const child = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), {
      // Workers are TypeScript too; the loader is found from here, whatever the working directory is.
      execArgv: ['--import', import.meta.resolve('tsx')],
      env: { ...process.env, REDIS_URL: url, TOPIC_PREFIX: prefix, WORKER_NAME: name },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    const worker: FleetWorker = {
      name,
      process: child,
      pid: child.pid ?? -1,
      workerId: undefined,
      state: 'starting',
      diedAt: undefined,
      slots: new Array<Slot | undefined>(SLOTS).fill(undefined),
      done: 0,
    }
    child.on('message', (message: WorkerMessage) => {
      follow(worker, message)
      this.listener.onMessage(worker, message)
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n').filter((one) => one.trim() !== '')) this.listener.onOutput(worker, line)
      })
    }
    child.once('error', (error) => this.#ended(worker, error.message))
    child.once('exit', (code, signal) => this.#ended(worker, signal ?? `code ${code}`))
    return worker
  }

  #ended(worker: FleetWorker, how: string): void {
    if (worker.state === 'ended') return
    worker.slots.fill(undefined)
    if (!this.#isStopping) worker.diedAt = Date.now()
    if (worker.state === 'killed') return
    worker.state = 'ended'
    if (!this.#isStopping) this.listener.onCrash(worker, how)
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

const end = async ({ process: child }: FleetWorker, signal: NodeJS.Signals): Promise<void> => {
  if (child.pid === undefined || hasEnded(child)) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}

/** Keeps the picture of a worker's slots up to date. */
const follow = (worker: FleetWorker, message: WorkerMessage): void => {
  const { slots } = worker
  switch (message.kind) {
    case 'ready':
      worker.workerId = message.workerId
      worker.state = 'working'
      break
    case 'started': {
      const free = slots.indexOf(undefined)
      if (free >= 0) slots[free] = { taskId: message.taskId, percent: 0 }
      break
    }
    case 'progress': {
      const slot = slots.find((one) => one?.taskId === message.taskId)
      if (slot) slot.percent = message.percent
      break
    }
    case 'retry':
    case 'lost':
    case 'ended': {
      const index = slots.findIndex((one) => one?.taskId === message.taskId)
      if (index >= 0) slots[index] = undefined
      if (message.kind === 'ended') worker.done++
      break
    }
    default:
  }
}
