import { isTerminalStatus, type SubmitOptions } from '@furystack/task-runner'
import { expect } from 'vitest'

import { type Fault, Link } from '../../support/link.js'
import type { VirtualClock } from '../../support/virtualClock.js'
import { memoryWorld } from '../crashPoints/memoryWorld.js'
import type { HandlerStage, Stage } from '../crashPoints/scenario.js'
import { checkWorld } from './checkWorld.js'
import { planHandlers, typeOf } from './handlers.js'
import { type Plan, somePlan } from './plan.js'
import type { Random } from './random.js'

const NODES = 3
/** For so long things are asked for, and go wrong; times are milliseconds. */
const OPEN_MS = 4_000
const LIMIT_MS = 180_000
const FAULTS = [
  { how: 'crash', when: 'before' },
  { how: 'crash', when: 'after' },
  { how: 'reject', when: 'before' },
  { how: 'reject', when: 'after' },
] as const satisfies readonly Fault[]

/** A process, and the way from it to what outlives it. */
interface Node {
  readonly link: Link
  readonly stage: Stage
}

/**
 * Lets three processes work on what chance asks for, while chance kills them, cuts their words off, holds them up and
 * cancels tasks; then checks what it has come to. Answers how many tasks there were.
 */
export const playWorld = async (random: Random, clock: VirtualClock): Promise<number> => {
  const links = new Map<HandlerStage, Link>()
  const workerIds = new Map<HandlerStage, string>()
  const misdeeds = new Map<string, number>()
  const queue = random.pick(['of its own', 'of its own', 'in the process'] as const)
  // Some slot is always left: in the whole fleet, or where the queue is the process's own, in each process.
  const budget = { waits: NODES - 1 }
  const fewestSlots = queue === 'of its own' ? 1 : NODES
  const world = memoryWorld(queue, {
    handlers: (stage) =>
      planHandlers(stage, {
        link: links.get(stage) ?? new Link(),
        workerId: () => workerIds.get(stage) ?? '',
        misdeeds,
      }),
  })
  const openUntil = Date.now() + OPEN_MS
  const faultiness = random.pick([0, 0.003, 0.01, 0.03])
  const slowness = random.pick([0, 0, 2, 20])
  const nodes: Node[] = []
  let comings = 0
  let askings = 0

  const later = (ms: number, then: () => void): void => {
    comings++
    setTimeout(() => {
      comings--
      then()
    }, ms)
  }

  const startNode = (index: number): void => {
    const link = new Link({
      latencyMs: () => random.whole(0, slowness),
      faultOf: () => (Date.now() < openUntil && random.chance(faultiness) ? random.pick<Fault>(FAULTS) : undefined),
    })
    const stage = world.start(link)
    links.set(stage, link)
    workerIds.set(stage, stage.work(random.whole(fewestSlots, NODES)).workerId)
    nodes[index] = { link, stage }
    void link.died.then(() => {
      // Its timers would go on for nothing.
      link.bury()
      void stage.dispose()
      later(random.whole(0, 2_500), () => {
        startNode(index)
      })
    })
  }

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

  const submit = async ({ stage }: Node): Promise<void> => {
    const plan = somePlan(random, budget)
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
    const { stage: other } = random.pick(nodes as [Node, ...Node[]])
    expect((await other.runner.submit(options)).id).toBe(id)
  }

  const cancel = async ({ stage }: Node): Promise<void> => {
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

  const resend = async ({ stage }: Node): Promise<void> => {
    const { letters } = await stage.runner.deadLetters.list()
    const [letter, ...others] = letters
    if (letter === undefined) return
    const { id } = random.pick([letter, ...others])
    resent.add(id)
    await stage.runner.deadLetters.resend(id)
  }

  const misfortunes: unknown[] = []
  const ask = (asking: (node: Node) => Promise<void>): void => {
    later(random.whole(0, OPEN_MS), () => {
      askings++
      asking(random.pick(nodes as [Node, ...Node[]])).catch((error: unknown) => {
        // Calls may fail; what this test expects may not.
        if (error instanceof Error && error.name === 'AssertionError') misfortunes.push(error)
      })
    })
  }

  const hold = ({ link }: Node): Promise<void> => {
    link.hold()
    later(random.whole(100, 4_000), () => {
      link.resume()
    })
    return Promise.resolve()
  }

  for (let index = 0; index < NODES; index++) startNode(index)
  for (let count = random.whole(1, 6); count > 0; count--) ask(submit)
  for (let count = random.whole(0, 3); count > 0; count--) ask(cancel)
  for (let count = random.whole(0, 2); count > 0; count--) ask(resend)
  for (let count = random.whole(0, 2); count > 0; count--) ask(hold)
  for (let count = random.whole(0, 2); count > 0; count--) {
    ask(({ link }) => {
      link.die()
      return Promise.resolve()
    })
  }

  /** Drafts whose start got lost are started by whoever comes next. */
  const startDrafts = async (): Promise<void> => {
    for (const { task } of await world.rows()) {
      if (task.status !== 'draft') continue
      const node = random.pick(nodes as [Node, ...Node[]])
      if (!node.link.isDead) node.stage.runner.start(task.id).catch(() => undefined)
    }
  }

  let turns = 0
  const isDone = async (): Promise<boolean> => {
    if (++turns % 64 !== 0) return false
    await look()
    if (comings > 0 || Date.now() < openUntil) return false
    if (await world.isOver()) return (await world.leftovers()).length === 0
    if (turns % 256 === 0) await startDrafts()
    return false
  }
  try {
    await clock.runUntil(isDone, LIMIT_MS)
  } catch (error) {
    const open = (await world.rows()).filter(({ task }) => !isTerminalStatus(task.status))
    const leftovers = await world.leftovers()
    throw new Error(`${String(error)}: ${JSON.stringify({ open, leftovers })}`, { cause: error })
  }
  const rows = await world.rows()
  for (const misfortune of misfortunes) throw misfortune as Error
  checkWorld(rows, world.log, { cancels, doomed, earliest, resent, ends })
  let isDisposed = false
  void Promise.all(nodes.map(({ stage }) => stage.dispose())).then(() => {
    isDisposed = true
  })
  await clock.runUntil(() => isDisposed, LIMIT_MS)
  clock.clear()
  expect(askings).toBeGreaterThan(0)
  return rows.length
}
