import { isTerminalStatus, type TaskStatus } from '@furystack/task-runner'

import type { LineOf } from '../history/chaosLine.js'
import type { ChaosResult } from '../world/chaosHandlers.js'
import type { ChaosPayload } from '../world/planTask.js'
import type { Check } from './check.js'
import { groupBy } from './groupBy.js'

/**
 * G12. Everybody sees one truth: a task that somebody has seen to be over is over for all, in the same way; it is run with
 * what was submitted under its id; and one submission, or one key, is one task.
 */
export const checkShared: Check = (readings) => [...reversals(readings), ...changelings(readings), ...twins(readings)]

const reversals: Check = ({ of, rows, losses }) => {
  // What was sent again is over once more.
  const resent = new Set(of('resending').map(({ taskId }) => taskId))
  return [...groupBy(of('seen'), ({ taskId }) => taskId)].flatMap(([taskId, seen]) => {
    if (resent.has(taskId) || losses.some(({ what }) => what === 'newest')) return []
    const first = seen.find(({ status }) => isTerminalStatus(status as TaskStatus))
    if (!first) return []
    const differs = seen.find((line) => line.startedAt >= first.at && !isSame(line, first))
    if (differs)
      return [{ at: differs.at, taskId, message: `it was ${tell(first)} for ${first.by}, then ${tell(differs)}` }]
    const row = rows.get(taskId)
    if (!row) return []
    const nonce = (row.result as ChaosResult | undefined)?.nonce
    const last = { status: row.status, ...(nonce !== undefined && { nonce }) }
    return isSame(last, first)
      ? []
      : [{ taskId, message: `it was ${tell(first)} for ${first.by}, and is ${tell(last)}` }]
  })
}

type Sight = Pick<LineOf<'seen'>, 'status' | 'nonce'>
const isSame = (a: Sight, b: Sight): boolean => a.status === b.status && a.nonce === b.nonce
const tell = ({ status, nonce }: Sight): string => (nonce === undefined ? status : `${status} with ${nonce}`)

const changelings: Check = ({ of, runs, rows }) => {
  const refs = new Map<string, string>()
  for (const { taskId, ref } of of('submitted')) refs.set(taskId, ref)
  for (const { id, payload } of rows.values()) if (!refs.has(id)) refs.set(id, (payload as ChaosPayload).ref)
  const run = runs.flatMap(({ taskId, ref, by, from }) => {
    const own = refs.get(taskId) ?? ref
    return own === ref ? [] : [{ at: from, taskId, message: `${by} ran it as ${ref}, and it is ${own}` }]
  })
  const stored = [...rows.values()].flatMap(({ id, payload, result }) => {
    const own = refs.get(id)
    const told = (result as ChaosResult | undefined)?.ref ?? own
    if ((payload as ChaosPayload).ref === own && told === own) return []
    return [
      {
        taskId: id,
        message: `its row is that of ${(payload as ChaosPayload).ref}, its result of ${told}, and it is ${own}`,
      },
    ]
  })
  return [...run, ...stored]
}

const twins: Check = ({ of, runs, rows, losses, mayBeLost }) => {
  const keyed = new Set(of('submitting').flatMap(({ ref, key }) => (key === undefined ? [] : [ref])))
  const answers = [
    ...of('submitted').map(({ ref, taskId, startedAt, at }) => ({ ref, taskId, startedAt, at })),
    ...runs
      .filter(({ ref }) => !keyed.has(ref))
      .map(({ ref, taskId, from }) => ({ ref, taskId, startedAt: from, at: from })),
  ]
  // A child that a fail-over has forgotten is spawned anew.
  const kept = answers.filter(({ taskId, at }) => rows.has(taskId) || !mayBeLost(at, 'newest'))
  // What was lost is made anew by whoever has the key; who asked just then may have been answered either way.
  const between = (answer: { startedAt: number; at: number }): number | undefined => {
    if (losses.some((loss) => answer.startedAt <= loss.at && answer.at >= loss.startedAt)) return undefined
    return losses.filter((loss) => loss.at < answer.startedAt).length
  }
  return [...groupBy(kept, (answer) => `${answer.ref} ${keyed.has(answer.ref) ? between(answer) : 0}`)].flatMap(
    ([, group]) => {
      const [first] = group
      const other = group.find(({ taskId }) => taskId !== first?.taskId)
      if (!first || !other || (keyed.has(first.ref) && between(first) === undefined)) return []
      return [{ at: other.at, taskId: other.taskId, message: `${first.ref} is ${first.taskId} and ${other.taskId}` }]
    },
  )
}
