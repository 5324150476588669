import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { watchdog } from '../../../scripts/redis/watchdog.js'
import type { HistoryWriter } from '../history/historyFile.js'
import type { ProcessOrder, ProcessStart } from './processStart.js'

const MAINS = {
  worker: fileURLToPath(new URL('./workerMain.ts', import.meta.url)),
  submitter: fileURLToPath(new URL('./submitterMain.ts', import.meta.url)),
}

/** How a process is started; its name stays, its lives are counted. */
export interface ChaosProcessOptions extends Omit<ProcessStart, 'by'> {
  readonly name: string
  /** Of the run; goes with whoever started the process. */
  readonly directory: string
  readonly history: HistoryWriter
}

/** A process that is killed and started again as often as need be. */
export interface ChaosProcess {
  readonly name: string
  readonly role: ProcessStart['role']
  /** The present life, or the last one. */
  readonly by: string
  readonly isAlive: boolean
  /** Begins a life; resolves when it works. It starts another by itself whenever it ends without being meant to. */
  start(): Promise<void>
  signal(signal: NodeJS.Signals): void
  order(order: ProcessOrder): void
  /** Ends this life by a signal; resolves when it is over. After `limitMs` it is killed, which is no good end. */
  end(signal: NodeJS.Signals, limitMs?: number): Promise<void>
  /** Resolves when this life has ended, by itself or by `limitMs`. */
  ended(limitMs: number): Promise<void>
}

/** Makes a process of a chaos run; {@link ChaosProcess.start} begins its first life. */
export const chaosProcess = ({ name, directory, history, ...rest }: ChaosProcessOptions): ChaosProcess => {
  let lives = 0
  let by = `${name}.0`
  let child: ChildProcess | undefined
  let exited: Promise<unknown> = Promise.resolve()
  let isMeantToEnd = false

  const isAlive = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null

  const start = async (): Promise<void> => {
    by = `${name}.${lives++}`
    const life = by
    isMeantToEnd = false
    const argument: ProcessStart = { ...rest, by }
    const forked = fork(MAINS[rest.role], [JSON.stringify(argument)], {
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Its own process group: the interrupt of a terminal is for the executioner, who brings all of it to its end.
      detached: true,
    })
    child = forked
    let complaints = ''
    forked.stderr?.setEncoding('utf8').on('data', (text: string) => (complaints = (complaints + text).slice(-4_000)))
    forked.on('error', () => undefined)
    const pid = forked.pid ?? -1
    history.note({ kind: 'started', process: by, pid })
    // Neither a process that is held by SIGSTOP nor one that hangs may outlive the run.
    const dismiss = watchdog(pid, directory)
    exited = once(forked, 'exit').then(([code, signal]) => {
      dismiss()
      const how = [signal ?? `code ${String(code)}`, complaints.trim()].filter((text) => text !== '').join(': ')
      history.note({ kind: 'ended', process: life, how, isMeant: isMeantToEnd })
      // A handler may have killed it; the checker knows which ones may.
      if (!isMeantToEnd) void start().catch(() => undefined)
    })
    await Promise.race([once(forked, 'message'), exited])
  }

  const limited = async (limitMs: number): Promise<void> => {
    const timer = setTimeout(() => {
      history.note({ kind: 'uncaught', error: `${by} had not ended after ${limitMs} ms, and was killed` })
      child?.kill('SIGKILL')
    }, limitMs)
    await exited
    clearTimeout(timer)
  }

  return {
    name,
    role: rest.role,
    get by() {
      return by
    },
    get isAlive() {
      return isAlive()
    },
    start,
    signal: (signal) => void child?.kill(signal),
    order: (order) => {
      if (child?.connected) child.send(order)
    },
    end: async (signal, limitMs = 30_000) => {
      isMeantToEnd = true
      if (!isAlive()) return
      child?.kill(signal)
      await limited(limitMs)
    },
    ended: async (limitMs) => {
      isMeantToEnd = true
      if (isAlive()) await limited(limitMs)
    },
  }
}
