import { isTerminalStatus } from '@furystack/task-runner'
import { expect } from 'vitest'

import { agenda } from './agenda.js'
import { checkWorld } from './checkWorld.js'
import { type Fleet, NODES, startFleet } from './fleet.js'
import type { Ground } from './ground.js'
import { somePlan } from './plan.js'
import type { Random } from './random.js'
import { type Request, requests } from './requests.js'

/** For so long things are asked for, and go wrong; times are milliseconds. */
const OPEN_MS = 4_000

/**
 * Lets three processes work on what chance asks for, while chance kills them, cuts their words off, holds them up and
 * cancels tasks; then checks what it has come to. Answers how many tasks there were.
 */
export const playWorld = async (random: Random, ground: Ground): Promise<number> => {
  const comings = agenda()
  const openUntil = Date.now() + OPEN_MS
  const fleet = startFleet(ground, random, comings, openUntil)
  const end = (): Promise<void> => ground.settled(Promise.resolve(fleet[Symbol.asyncDispose]()))
  const { world, nodes } = fleet
  const { asked, submit, cancel, resend, look } = requests(fleet)
  const misfortunes: unknown[] = []
  let askings = 0

  const ask = (request: Request): void => {
    // Chances of its own: who else draws in between, and how much, is up to time.
    const own = random.fork()
    comings.after(own.whole(0, OPEN_MS), () => {
      askings++
      request(own.pick(nodes), own).catch((error: unknown) => {
        // Calls may fail; what this test expects may not.
        if (error instanceof Error && error.name === 'AssertionError') misfortunes.push(error)
      })
    })
  }

  const hold: Request = ({ link }, own) => {
    link.hold()
    comings.after(own.whole(100, 4_000), () => {
      link.resume()
    })
    return Promise.resolve()
  }

  const kill: Request = ({ link }) => {
    link.die()
    return Promise.resolve()
  }

  const budget = { waits: NODES - 1 }
  for (let count = random.whole(1, 6); count > 0; count--) ask(submit(somePlan(random, budget)))
  for (const [request, atMost] of [
    [cancel, 3],
    [resend, 2],
    [hold, 2],
    [kill, 2],
  ] as const) {
    for (let count = random.whole(0, atMost); count > 0; count--) ask(request)
  }

  let looks = 0
  const isDone = async (): Promise<boolean> => {
    await look()
    if (!comings.isEmpty || Date.now() < openUntil) return false
    if (await world.isOver()) return (await world.leftovers()).length === 0
    if (++looks % 4 === 0) await startDrafts(fleet, random)
    return false
  }

  try {
    await ground.until(isDone).catch(async (error: unknown) => {
      const open = (await world.rows()).filter(({ task }) => !isTerminalStatus(task.status))
      const leftovers = await world.leftovers()
      throw new Error(`${String(error)}: ${JSON.stringify({ open, leftovers })}`, { cause: error })
    })
    const rows = await world.rows()
    for (const misfortune of misfortunes) throw misfortune as Error
    checkWorld(rows, world.log, asked)
    expect(askings).toBeGreaterThan(0)
    return rows.length
  } finally {
    await end()
  }
}

/** Drafts whose start got lost are started by whoever comes next. */
const startDrafts = async ({ world, nodes }: Fleet, random: Random): Promise<void> => {
  for (const { task } of await world.rows()) {
    if (task.status !== 'draft') continue
    const node = random.pick(nodes)
    if (!node.link.isDead) node.stage.runner.start(task.id).catch(() => undefined)
  }
}
