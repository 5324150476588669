import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import type { SubmitOptions } from '@furystack/task-runner'
import { onTestFinished } from 'vitest'

import { redisUrl } from './redis.js'

/** What a submitter process is told to do: the same submission so many times, all at once. */
export interface SubmitterRequest {
  readonly how: 'submit' | 'draft' | 'submitMany'
  readonly options: SubmitOptions<unknown>
  readonly times: number
}

/** A process of its own that submits on demand. */
export interface SubmitterProcess {
  readonly pid: number
  /** Answers the ids of the tasks, and of each whether it is new. */
  submit(request: SubmitterRequest): Promise<Array<{ id: string; isNew: boolean }>>
}

const main = fileURLToPath(new URL('./submitterMain.ts', import.meta.url))

/** Starts a submitter process, with or without a bus, and waits until it is ready; it ends with the test. */
export const startSubmitterProcess = async (prefix: string, { hasBus = false } = {}): Promise<SubmitterProcess> => {
  const child = fork(main, [JSON.stringify({ url: redisUrl(), prefix, hasBus })], { execArgv: ['--import', 'tsx'] })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const answer = async (): Promise<string[]> => {
    const [reply] = (await Promise.race([
      once(child, 'message'),
      exited.then(() => Promise.reject(new Error('the submitter process has ended'))),
    ])) as [{ answers?: string[]; error?: string }]
    if (reply.answers === undefined) throw new Error(reply.error)
    return reply.answers
  }
  await answer()
  return {
    pid: child.pid ?? 0,
    submit: async (request) => {
      const answering = answer()
      child.send(request)
      return (await answering).map((text) => ({ id: text.slice(4), isNew: text.startsWith('new') }))
    },
  }
}
