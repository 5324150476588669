import { isTerminalStatus, type StoredTask } from '@furystack/task-runner'

import { keys as keysOf } from '../../../src/keys/keys.js'
import type { TestClient } from '../../support/redis.js'

/** What lies below a prefix for as long as somebody uses it. */
const LASTING = ['lanes', 'serving', 'bell', 'scheduler']
/** What `PTTL` answers for a key that has no end; one that has just gone is no matter. */
const FOR_EVER = -1
const ROW = /^row:(.+?)(:events|:children|:steps|:open|:blobs)?$/

/**
 * Looks at every key below a prefix whose tasks are all over, and tells what should not be there: entries, claims, places,
 * marks, held keys, rows that nobody would ever remove.
 */
export const redisLeftovers = async (
  client: TestClient,
  prefix: string,
  rows: readonly StoredTask[],
): Promise<string[]> => {
  const { root, ...keys } = keysOf(prefix)
  const byId = new Map(rows.map((row) => [row.task.id, row] as const))
  const expires = async (name: string): Promise<boolean> => (await client.pTTL(root + name)) !== FOR_EVER
  const inRetention = new Set(await client.zRange(keys.retention, 0, -1))

  const ofRow = async (name: string, taskId: string, beside = ''): Promise<string[]> => {
    const row = byId.get(taskId)
    if (row === undefined) return [`${name}, which belongs to no task`]
    if (beside === ':open') return [name]
    const { task } = row
    if (!isTerminalStatus(task.status)) return [`${name}, which is ${task.status}`]
    // The whole family of a task with children goes at once.
    let top = task
    for (let up = byId.get(task.parentTaskId ?? ''); up; up = byId.get(up.task.parentTaskId ?? '')) top = up.task
    const goes = top.childTaskIds.length > 0 ? inRetention.has(top.id) : await expires(name)
    return goes ? [] : [`${name}, which nobody will remove`]
  }

  const lane = async (name: string): Promise<string[]> => {
    const entries = await client.xLen(root + name)
    const groups = await client.xInfoGroups(root + name)
    const pending = groups.reduce((sum, group) => sum + Number(group.pending), 0)
    return entries + pending === 0 ? [] : [`${entries} entries and ${pending} claims in ${name}`]
  }

  const members = async (name: string): Promise<string[]> => {
    const left = name.startsWith('cap:')
      ? await client.zRangeByScore(root + name, await serverTime(client), '+inf')
      : await client.zRange(root + name, 0, -1)
    return left.map((member) => `${member} in ${name}`)
  }

  const deadLetters = async (name: string): Promise<string[]> => {
    const letters = await client.zRange(root + name, 0, -1)
    const isDead = (letter: string): boolean => byId.get(letter.split('|').at(-1) ?? '')?.task.status === 'failed'
    return letters.filter((letter) => !isDead(letter)).map((letter) => `${letter} in ${name}`)
  }

  const look = async (name: string): Promise<string[]> => {
    const [, taskId, beside] = ROW.exec(name) ?? []
    if (taskId !== undefined) return ofRow(name, taskId, beside)
    if (name.startsWith('queue:')) return lane(name)
    if (name.startsWith('deadletters')) return deadLetters(name)
    if (/^(scheduler|orphans|unqueued|leases|deadlines|cap:.*)$/.test(name)) return members(name)
    if (/^(bell|capbell):/.test(name) || name === 'bell') return (await client.lLen(root + name)) > 1 ? [name] : []
    if (/^(idem|leader|wake):|^promoter$/.test(name))
      return (await expires(name)) ? [] : [`${name}, which does not expire`]
    return LASTING.includes(name) || name === 'retention' ? [] : [name]
  }

  const found = await client.keys(`${root}*`)
  return (await Promise.all(found.map((key) => look(key.slice(root.length))))).flat()
}

const serverTime = async (client: TestClient): Promise<number> => {
  const [seconds = 0, micros = 0] = (await client.sendCommand(['TIME'])) as unknown as string[]
  return Number(seconds) * 1_000 + Number(micros) / 1_000
}
