import type { CreateResult, CreateTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { RedisRefusedError } from '../errors/redisRefusedError.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { createTasks } from '../scripts/createTasks.js'
import { pagesOf } from '../scripts/pagesOf.js'
import { payloadBytesOf } from '../scripts/payloadBytesOf.js'

/**
 * What one call takes, or a single task. More of them in a turn become several calls: then Redis works on one while this
 * process makes tasks for the next. With 100 in flight 32 a call are faster by half than one call for all; 16 are no faster.
 */
const PAGE = { items: 32, bytes: 1_048_576, bytesOf: ({ input }: Asked): number => payloadBytesOf(input) }

/**
 * Puts the tasks that are submitted in one turn of the event loop into one call of a script, because a call costs as much
 * as the task: up to 32 of them, and 1 MiB of payloads. To whoever submits, each is a submission of its own: what is refused
 * for one is tried again for the others.
 *
 * @example
 * const submissions = new Submissions(connection, keys('svc/'), 'runner')
 * const [one, other] = await Promise.all([submissions.submit(draft), submissions.submit({ ...draft, id: 'b' })])
 */
export class Submissions {
  private waiting: Asked[] = []

  constructor(
    private readonly connection: Connection,
    private readonly keys: Keys,
    private readonly group: string,
  ) {}

  /** Creates the row of a task and its entry. */
  submit(input: CreateTask): Promise<CreateResult> {
    // A parent that is over refuses all tasks of a call.
    if (input.parentTaskId !== undefined) return this.alone(input)
    return new Promise((resolve, reject) => {
      // After all promises of the turn, and before the client writes.
      if (this.waiting.length === 0) process.nextTick(this.send)
      this.waiting.push({ input, resolve, reject })
    })
  }

  private readonly send = (): void => {
    const { waiting } = this
    this.waiting = []
    for (const page of pagesOf(waiting, PAGE)) this.call(page)
  }

  private call(asked: readonly Asked[]): void {
    const inputs = asked.map(({ input }) => input)
    createTasks(this.connection, this.keys, this.group, inputs, true).then(
      (results) => {
        for (const [index, { resolve }] of asked.entries()) resolve(results[index] as CreateResult)
      },
      (error: unknown) => {
        const isForAll = asked.length === 1 || !(error instanceof RedisRefusedError) || error.effect !== 'excluded'
        for (const { input, resolve, reject } of asked) {
          if (isForAll) reject(error)
          else this.alone(input).then(resolve, reject)
        }
      },
    )
  }

  private async alone(input: CreateTask): Promise<CreateResult> {
    const [result] = await createTasks(this.connection, this.keys, this.group, [input], true)
    if (result === undefined) throw new ScriptReplyError('createTasks', result)
    return result
  }
}

interface Asked {
  readonly input: CreateTask
  readonly resolve: (result: CreateResult) => void
  readonly reject: (error: unknown) => void
}
