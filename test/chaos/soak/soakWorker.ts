import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import type { ProcessReadings } from './readings.js'
import { SOAK_SERVICE } from './soakService.js'

/** A worker process of a soak. */
export interface SoakWorker {
  read(): Promise<ProcessReadings>
  /** Ends the worker in it while another one begins. */
  replace(): Promise<void>
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

const main = fileURLToPath(new URL('./soakWorkerMain.ts', import.meta.url))

const answerOf = async (child: ChildProcess): Promise<unknown> => {
  const aborter = new AbortController()
  const { signal } = aborter
  try {
    const ended = once(child, 'exit', { signal }).then(() => {
      throw new Error('a worker process has ended')
    })
    return ((await Promise.race([once(child, 'message', { signal }), ended])) as unknown[])[0]
  } finally {
    aborter.abort()
  }
}

/** Starts a worker process, and waits until it takes tasks. */
export const startSoakWorker = async (url: string): Promise<SoakWorker> => {
  const child = fork(main, [JSON.stringify({ url, ...SOAK_SERVICE })], { execArgv: ['--import', 'tsx'] })
  await answerOf(child)
  const ask = async (request: string): Promise<unknown> => {
    const answer = answerOf(child)
    child.send(request)
    return answer
  }
  return {
    read: async () => (await ask('read')) as ProcessReadings,
    replace: async () => void (await ask('replace')),
    end: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill(signal)
      await exited
    },
  }
}
