import { isTerminalStatus, type SubmitOptions } from '@furystack/task-runner'
import { expect } from 'vitest'

import type { Asked } from './checkWorld.js'
import type { Fleet, Node } from './fleet.js'
import { typeOf } from './handlers.js'
import type { Plan } from './plan.js'
import type { Random } from './random.js'

/** Something that is asked of a process. */
export type Request = (node: Node, random: Random) => Promise<void>

/** What can be asked of the processes of a world. */
export interface Requests {
  readonly asked: Asked
  readonly submit: (plan: Plan) => Request
  readonly cancel: Request
  readonly resend: Request
  /** Writes down what has ended by now. */
  readonly look: () => Promise<void>
}

/** Remembers what was asked. */
export const requests = ({ world, nodes }: Fleet): Requests => {
  const cancels = new Set<string>()
  const doomed = new Set<string>()
  const earliest = new Map<string, number>()
  const resent = new Set<string>()
  const ends = new Map<string, string>()

  /** Nothing that has ended is ever anything else. */
  const look = async (): Promise<void> => {
    for (const { task } of await world.rows()) {
      if (isTerminalStatus(task.status) && !ends.has(task.id)) ends.set(task.id, task.status)
    }
  }

  const submit =
    (plan: Plan): Request =>
    async ({ stage }, random) => {
      const options: SubmitOptions<Plan> = {
        type: typeOf(plan),
        handlerVersion: 1,
        payload: plan,
        ...(random.chance(0.2) && { notBefore: new Date(Date.now() + random.whole(0, 2_000)) }),
        ...(random.chance(0.2) && { idempotencyKey: `key ${random.whole(0, 1_000_000)}` }),
      }
      const asDraft = random.chance(0.15)
      const { id } = asDraft ? await stage.runner.draft(options) : await stage.runner.submit(options)
      stage.log({ kind: 'told', call: 'submit', taskId: id })
      if (options.notBefore) earliest.set(id, options.notBefore.getTime())
      if (asDraft) await stage.runner.start(id)
      if (options.idempotencyKey === undefined || options.notBefore) return
      // Whoever asks again gets the same task, from whichever process.
      const { stage: other } = random.pick(nodes)
      expect((await other.runner.submit(options)).id).toBe(id)
    }

  const cancel: Request = async ({ stage }, random) => {
    const rows = await world.rows()
    if (rows.length === 0) return
    const { id } = random.pick(rows as [(typeof rows)[0], ...typeof rows]).task
    cancels.add(id)
    await stage.runner.cancel(id, 'chance')
    const after = (await world.rows()).find(({ task }) => task.id === id)?.task.status
    // A dead letter is sent again whatever is asked of it besides.
    const isOver = isTerminalStatus(after ?? 'draft') || after === 'cancelling' || resent.has(id)
    expect([after, isOver]).toEqual([after, true])
    if (after === 'cancelling') doomed.add(id)
    await look()
  }

  const resend: Request = async ({ stage }, random) => {
    const { letters } = await stage.runner.deadLetters.list()
    const [letter, ...others] = letters
    if (letter === undefined) return
    const { id } = random.pick([letter, ...others])
    resent.add(id)
    await stage.runner.deadLetters.resend(id)
  }

  return { asked: { cancels, doomed, earliest, resent, ends }, submit, cancel, resend, look }
}
