import { isTerminalStatus, MemoryTaskStore, type StoredTask, type TaskStore } from '@furystack/task-runner'
import { describe, expect, it } from 'vitest'

import { keys } from '../../src/keys/keys.js'
import { redisTaskStore } from '../../src/redis/redisTaskStore.js'
import { assertProperty } from '../support/assertProperty.js'
import { connectTo } from '../support/connectTo.js'
import { connectClient, uniquePrefix } from '../support/redis.js'
import { ALL, anySteps, deadLettersIn, type Side, told, toldRow, unqueuedIn } from './taskStore/storeSteps.js'

const RUNS = 300

const sideOf = (store: TaskStore): Side => ({ store, startedAt: new Map(), discarded: new Set() })

/** What has to hold of the rows at any time, whatever has happened to them. */
const assertSound = (rows: ReadonlyMap<string, StoredTask>, marked: readonly string[]): void => {
  for (const [id, { task, openChildren = 0, losses }] of rows) {
    const { status, attempts, events, childTaskIds } = task
    const isActive = status === 'running' || status === 'cancelling'
    expect(attempts.filter((attempt) => attempt.status === 'in-progress').length, `open attempts of ${id}`).toBe(
      isActive ? 1 : 0,
    )
    const made = events.findLast((event) => event.kind === 'resent')?.attempts ?? 0
    const lost = attempts.filter(({ attempt, status }) => status === 'timed-out' && attempt > made)
    expect(losses, `losses of ${id}`).toBe(lost.length)
    const done = attempts.findIndex((attempt) => attempt.status === 'succeeded')
    expect(done === -1 || (done === attempts.length - 1 && status === 'succeeded'), `success of ${id}`).toBe(true)
    expect(isTerminalStatus(status), `end of ${id}`).toBe(task.terminalAt !== undefined)
    // A child that was discarded may have been made anew under its id.
    const open = [...new Set(childTaskIds)].filter(
      (childId) => !isTerminalStatus(rows.get(childId)?.task.status ?? 'failed'),
    )
    expect(openChildren, `open children of ${id}`).toBe(open.length)
    const completed = events.flatMap((event) => (event.kind === 'child-completed' ? [event.childTaskId] : []))
    for (const childId of completed) {
      // Of one that was made anew nobody knows how often it had been sent again before.
      const isMadeAnew = childTaskIds.filter((one) => one === childId).length > 1
      const present = isMadeAnew ? undefined : rows.get(childId)
      const ends = 1 + (present?.task.events.filter(({ kind }) => kind === 'resent').length ?? Infinity)
      expect(completed.filter((one) => one === childId).length, `ends of ${childId}`).toBeLessThanOrEqual(ends)
    }
    const awaited = task.resumeToken === undefined ? [] : (JSON.parse(task.resumeToken) as string[])
    const isOpen = (childId: string): boolean => !isTerminalStatus(rows.get(childId)?.task.status ?? 'failed')
    expect(awaited.some(isOpen), `what ${id} waits for`).toBe(status === 'waiting')
  }
  expect(marked.filter((id) => rows.get(id)?.task.status !== 'pending')).toEqual([])
}

const rowsOf = async ({ store }: Side): Promise<Map<string, StoredTask>> => {
  const rows = await store.getMany(ALL)
  return new Map(rows.flatMap((row) => (row ? [[row.task.id, row] as const] : [])))
}

describe('the rows in memory and those in Redis', () => {
  it('go through the same transitions, whatever three workers do to them', async () => {
    const client = await connectClient()
    await using connection = connectTo(client)
    await assertProperty(
      [anySteps],
      async ([steps], doing) => {
        const memory = sideOf(new MemoryTaskStore())
        const redis = sideOf(redisTaskStore({ connection, keys: keys(uniquePrefix('model')) }))
        for (const step of steps) {
          doing(step)
          const [inMemory, inRedis] = [await step.run(memory), await step.run(redis)]
          expect(inRedis).toEqual(inMemory)
          const rows = await rowsOf(memory)
          assertSound(rows, await unqueuedIn(memory))
          // Those whose rows have gone may come again, as those that were sent again may fail again.
          for (const id of memory.discarded) if (rows.get(id)?.task.status !== 'failed') memory.discarded.delete(id)
        }
        doing('what can be seen')
        const [inMemory, inRedis] = [await rowsOf(memory), await rowsOf(redis)]
        for (const id of ALL) expect(toldRow(inRedis.get(id))).toEqual(toldRow(inMemory.get(id)))
        expect(await unqueuedIn(redis)).toEqual(await unqueuedIn(memory))
        for (const type of [undefined, 'mail', 'page']) {
          const letters = await deadLettersIn(memory, type)
          expect(await deadLettersIn(redis, type)).toEqual(letters)
          const failed = [...inMemory.values()].filter(
            ({ task }) => task.status === 'failed' && !memory.discarded.has(task.id),
          )
          expect(letters).toHaveLength(failed.filter(({ task }) => type === undefined || task.type === type).length)
          for (const { store } of [memory, redis]) {
            expect(await store.deadLetters.count(type === undefined ? {} : { type })).toBe(letters.length)
          }
        }
        for (const id of ALL) {
          const [a, b] = [await memory.store.readSteps(id), await redis.store.readSteps(id)]
          const sorted = (list: typeof a) => list.sort((x, y) => x.key.localeCompare(y.key))
          expect(told(sorted(b))).toEqual(told(sorted(a)))
        }
      },
      { numRuns: RUNS },
    )
  }, 60_000)
})
