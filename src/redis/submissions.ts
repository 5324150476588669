import type { CreateResult, CreateTask } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import { RedisRefusedError } from '../errors/redisRefusedError.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { createTasks } from '../scripts/createTasks.js'
import { pagesOf } from '../scripts/pagesOf.js'
import { payloadBytesOf } from '../scripts/payloadBytesOf.js'

/** What one call takes, or a single task. */
const MAX_BYTES = 1_048_576
/**
 * So many tasks a call, or half of those that are submitted and not yet answered: then Redis works on one half while this
 * process makes tasks in place of the other. With 100 in flight that is faster by a third than one call for all of them.
 */
const MIN_TASKS = 32
/** Half a millisecond of the server. */
const MAX_TASKS = 100

/**
 * Puts the tasks that are submitted in one turn of the event loop into one call of a script, because a call costs as much
 * as the task: up to 100 of them, and 1 MiB of payloads. To whoever submits, each is a submission of its own: what is refused
 * for one is tried again for the others.
 *
 * @example
 * const submissions = new Submissions(connection, keys('svc/'), 'runner')
 * const [one, other] = await Promise.all([submissions.submit(draft), submissions.submit({ ...draft, id: 'b' })])
 */
export class Submissions {
  private waiting: Asked[] = []
  /** Tasks that Redis has not answered yet. */
  private onTheirWay = 0

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
    const half = Math.ceil((waiting.length + this.onTheirWay) / 2)
    this.onTheirWay += waiting.length
    const items = Math.min(Math.max(half, MIN_TASKS), MAX_TASKS)
    this.callEach(pagesOf(waiting, { items, bytes: MAX_BYTES, bytesOf: ({ input }) => payloadBytesOf(input) }))
  }

  /** Each in a write of its own: what comes in one write, Redis answers in one. */
  private callEach([page, ...rest]: Asked[][]): void {
    if (page) this.call(page)
    if (rest.length > 0) setImmediate(() => this.callEach(rest))
  }

  private call(asked: readonly Asked[]): void {
    const inputs = asked.map(({ input }) => input)
    createTasks(this.connection, this.keys, this.group, inputs, true).then(
      (results) => {
        this.onTheirWay -= asked.length
        for (const [index, { resolve }] of asked.entries()) resolve(results[index] as CreateResult)
      },
      (error: unknown) => {
        this.onTheirWay -= asked.length
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
