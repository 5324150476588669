import { setTimeout as pause } from 'node:timers/promises'

import { InvalidTaskStateError, type Task, UnknownTaskError } from '@furystack/task-runner'

import { LaneError } from '../../../src/index.js'
import { randomOf } from '../run/random.js'
import type { ChaosResult } from './chaosHandlers.js'
import { openRunner } from './openRunner.js'
import { type PlannedTask, taskPlanner } from './planTask.js'
import { beginProcess, type ProcessOrder } from './processStart.js'

/** A submitter of a chaos run: submits, cancels, waits and looks, and writes down what it was answered. */
const { by, seed, way, prefix, note } = beginProcess()

const GAP_MS = { min: 40, max: 260 }
const MAX_UNDER_WAY = 60
const KEY_TRIES = 12

const { runner, dispose } = await openRunner(way, prefix, by)
const random = randomOf(`${seed}/${by}/behaviour`)
const underWay = new Set<Promise<void>>()
const known: string[] = []
let isFinishing = false

const effectOf = (error: unknown): { error: string; effect?: 'excluded' | 'unknown' } => ({
  error: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
  ...(error instanceof LaneError && { effect: error.effect }),
})

/** Calls, and writes down a rejection. */
const attempt = async <T>(call: string, ask: () => Promise<T>): Promise<T | undefined> => {
  const startedAt = Date.now()
  try {
    return await ask()
  } catch (error) {
    note({ kind: 'refused', call, startedAt, ...effectOf(error) })
    return undefined
  }
}

/** Starts a draft, as often as it takes; answers whether somebody was told that it is started. */
const start = async (ref: string, taskId: string): Promise<boolean> => {
  for (let n = 0; n < KEY_TRIES; n++) {
    await pause(250)
    const startedAt = Date.now()
    note({ kind: 'starting', ref, taskId })
    try {
      await runner.start(taskId)
      note({ kind: 'submitted', ref, taskId, startedAt })
      return true
    } catch (error) {
      if (error instanceof LaneError) note({ kind: 'refused', call: 'start', startedAt, ...effectOf(error) })
      // An earlier start had its effect, or a fault has taken the draft away.
      else if (error instanceof InvalidTaskStateError || error instanceof UnknownTaskError) return false
      else throw error
    }
  }
  return false
}

const submitOnce = async (planned: PlannedTask): Promise<Task | undefined> => {
  const { type, options, delayMs, startWithinMs, isDraft = false } = planned
  const { ref } = options.payload
  const startedAt = Date.now()
  const notBefore = delayMs === undefined ? undefined : startedAt + delayMs
  note({
    kind: 'submitting',
    ref,
    type,
    ...(options.idempotencyKey !== undefined && { key: options.idempotencyKey }),
    ...(notBefore !== undefined && { notBefore }),
    ...(isDraft && { isDraft }),
  })
  try {
    const task = await runner[isDraft ? 'draft' : 'submit']({
      ...options,
      ...(notBefore !== undefined && { notBefore: new Date(notBefore) }),
      ...(startWithinMs !== undefined && { startBefore: new Date(startedAt + startWithinMs) }),
    })
    if (!isDraft) note({ kind: 'submitted', ref, taskId: task.id, startedAt })
    else if (!(await start(ref, task.id)))
      note({ kind: 'rejected', ref, startedAt: Date.now(), error: 'it may not be started', effect: 'unknown' })
    return task
  } catch (error) {
    note({ kind: 'rejected', ref, startedAt, ...effectOf(error) })
    return undefined
  }
}

/** What has a key is submitted until it is taken, as its documentation says; the rest is for whoever comes to grips. */
const submit = async (planned: PlannedTask): Promise<Task | undefined> => {
  const tries = planned.options.idempotencyKey === undefined ? 1 : KEY_TRIES
  for (let n = 0; n < tries; n++) {
    const task = await submitOnce(planned)
    if (task) return task
    await pause(250)
  }
  return undefined
}

const look = async (taskId: string): Promise<void> => {
  const startedAt = Date.now()
  const task = await attempt('get', () => runner.get(taskId))
  if (!task) return
  const nonce = (task.result as ChaosResult | undefined)?.nonce
  note({ kind: 'seen', taskId, startedAt, status: task.status, ...(nonce !== undefined && { nonce }) })
}

const wait = async (taskId: string): Promise<void> => {
  const startedAt = Date.now()
  // A task that a fault has taken away would be waited for in vain; everything else is found in its row.
  const result = await runner.waitFor<ChaosResult>(taskId, { timeoutMs: 10_000 }).catch(() => undefined)
  if (result) note({ kind: 'seen', taskId, startedAt, status: 'succeeded', nonce: result.nonce })
}

const cancel = async (taskId: string, afterMs: number): Promise<void> => {
  await pause(afterMs)
  for (let n = 0; n < KEY_TRIES; n++) {
    const startedAt = Date.now()
    const answer = await attempt('cancel', () => runner.cancel(taskId, 'no longer wanted').then(() => true))
    if (answer) {
      note({ kind: 'cancelled', taskId, startedAt })
      return
    }
    await pause(250)
  }
}

/** Sends one of the latest dead letters again, as others may do at the same time. */
const resend = async (): Promise<void> => {
  const type = random.chance(0.1) ? 'poison' : 'flaky'
  const page = await attempt('dead letters', () => runner.deadLetters.list({ type, limit: 3 }))
  if (!page || page.letters.length === 0) return
  const { id: taskId } = random.pick(page.letters)
  const startedAt = Date.now()
  note({ kind: 'resending', taskId })
  try {
    await runner.deadLetters.resend(taskId)
    note({ kind: 'resent', taskId, startedAt })
  } catch (error) {
    // Somebody else was first, or a fault has taken it away.
    if (error instanceof InvalidTaskStateError || error instanceof UnknownTaskError) return
    note({ kind: 'refused', call: 'resend', startedAt, ...effectOf(error) })
  }
}

const live = async (planned: PlannedTask): Promise<void> => {
  const task = await submit(planned)
  if (!task) return
  known.push(task.id)
  if (planned.cancelAfterMs !== undefined) await cancel(task.id, planned.cancelAfterMs)
  if (planned.isWaitedFor) await wait(task.id)
  if (random.chance(0.2)) await look(random.pick(known))
  if (random.chance(0.1)) await resend()
}

process.on('message', ({ kind }: ProcessOrder) => {
  if (kind === 'finish') isFinishing = true
})
process.send?.('ready')

const next = taskPlanner(seed, by)
while (!isFinishing) {
  await pause(random.int(GAP_MS.min, GAP_MS.max))
  if (underWay.size >= MAX_UNDER_WAY) continue
  const one = live(next()).finally(() => underWay.delete(one))
  underWay.add(one)
}
await Promise.all(underWay)
await dispose()
note({ kind: 'drained' })
process.exit(0)
