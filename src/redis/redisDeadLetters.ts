import type {
  DeadEntry,
  DeadLetter,
  DeadLetterBox,
  DeadLetterPosition,
  DeadLetterReason,
  StoredTask,
} from '@furystack/task-runner'
import { isoTime } from '@furystack/task-runner'

import type { Connection } from '../connection/connection.js'
import type { Keys } from '../keys/keys.js'
import { encodeType } from '../keys/keys.js'
import { lane, parseLaneName } from '../keys/lane.js'
import { decodeRow } from '../rows/rowCodec.js'
import { countDeadLetters } from '../scripts/countDeadLetters.js'
import { discardDeadLetter } from '../scripts/discardDeadLetter.js'
import { type DeadRecord, listDeadLetters } from '../scripts/listDeadLetters.js'
import { readRows } from '../scripts/readRows.js'
import { resendEntry } from '../scripts/resendEntry.js'
import { resendTask } from '../scripts/resendTask.js'

/** What {@link redisDeadLetters} works with. */
export interface RedisDeadLettersOptions {
  readonly connection: Connection
  readonly keys: Keys
  /** The group of the lanes; '' where rows are bound to another transport, which makes the entries then. */
  readonly group: string
  /** Which kinds it answers for: all, or only one, where the other lies somewhere else. Asked at each call. */
  readonly holds: () => 'all' | DeadLetter['kind']
}

/** The members of the index by what they stand for; see deadLettersLua. */
const LETTERS: Readonly<Record<DeadLetter['kind'], Readonly<Partial<Record<DeadLetterReason, string>>>>> = {
  task: { failed: 'f', lost: 'l', expired: 'e' },
  entry: { unreadable: 'u', lost: 'p' },
}

/**
 * The dead letters of a prefix: failed rows, and entries that were set aside.
 *
 * @example
 * const box = redisDeadLetters({ connection, keys: keys('svc/'), group: 'runner', holds: () => 'all' })
 * const { letters } = await box.list({ order: 'newest', limit: 20 })
 */
export const redisDeadLetters = ({ connection, keys, group, holds }: RedisDeadLettersOptions): DeadLetterBox => {
  const isHeld = (kind: DeadLetter['kind']): boolean => holds() === 'all' || holds() === kind

  const readEntry = async (id: string): Promise<DeadEntry | undefined> => {
    if (!isHeld('entry') || !/^\d+-\d+$/.test(id)) return undefined
    const reply = await connection.send('readDeadEntry', ['XRANGE', keys.unreadable, id, id, 'COUNT', '1'])
    const [entry] = reply as Array<[id: string, fields: string[]]>
    return entry && entryOf(id, entry[1])
  }

  const readTask = async (id: string): Promise<StoredTask | undefined> =>
    isHeld('task') ? (await readRows(connection, keys, [id]))[0] : undefined

  const get = async (id: string): Promise<DeadLetter | undefined> => {
    const stored = await readTask(id)
    return stored === undefined ? readEntry(id) : taskOf(stored)
  }

  return {
    get,

    list: async ({ type, reason, order, after, until, limit }) => {
      const kinds = (['task', 'entry'] as const).filter(isHeld)
      const letters = kinds.flatMap((kind) => (reason ? (LETTERS[kind][reason] ?? []) : Object.values(LETTERS[kind])))
      const { records, next } = await listDeadLetters(connection, keys, {
        type,
        order,
        limit,
        until,
        after: after && { member: memberOf(after), score: after.at },
        letters: letters.join(''),
      })
      const position = next && positionOf(next.member, next.score)
      return { letters: records.flatMap(letterOf), ...(position && { next: position }) }
    },

    count: ({ type }) => countDeadLetters(connection, keys, type),

    resend: async ({ id, fromScratch }) => {
      const stored = await readTask(id)
      if (stored === undefined) {
        const letter = await readEntry(id)
        if (letter === undefined || group === '') return { kind: 'missing' }
        const result = await resendEntry(connection, keys, group, id)
        return result.kind === 'resent' ? { ...result, letter } : { kind: result.kind }
      }
      const letter = taskOf(stored)
      if (letter === undefined) return { kind: 'stale', status: stored.task.status }
      const { type, handlerVersion, tags } = stored.task
      const input = { taskId: id, lane: lane(type, handlerVersion, tags), fromScratch }
      const result = await resendTask(connection, keys, group, input)
      return result.kind === 'resent' ? { ...result, letter } : result
    },

    discard: async (id) => (await get(id)) !== undefined && discardDeadLetter(connection, keys, id),
  }
}

const memberOf = ({ kind, reason, type = '', id }: DeadLetterPosition): string =>
  [LETTERS[kind][reason] ?? '', encodeType(type).replaceAll('|', '%7C'), id].join('|')

const positionOf = (member: string, at: number): DeadLetterPosition | undefined => {
  const match = /^(\w)\|([^|]*)\|([^]*)$/.exec(member)
  if (!match) return undefined
  const [, letter, encoded = '', id = ''] = match
  for (const kind of ['task', 'entry'] as const) {
    for (const [reason, one] of Object.entries(LETTERS[kind])) {
      if (one !== letter) continue
      const type = encoded.replaceAll('%7C', '|').replaceAll('%3A', ':').replaceAll('%25', '%')
      return { at, kind, reason: reason as DeadLetterReason, ...(type && { type }), id }
    }
  }
  return undefined
}

const letterOf = ([member, score, fields, events, children, blobs]: DeadRecord): DeadLetter[] => {
  const position = positionOf(member, Number(score))
  if (!position) return []
  try {
    const letter =
      position.kind === 'entry'
        ? entryOf(position.id, fields)
        : taskOf(decodeRow(position.id, fields, { events, children, blobs }))
    return letter ? [letter] : []
  } catch {
    return [] // a row that cannot be read, of which its reader hears by `get`
  }
}

const taskOf = ({ task, deadReason }: StoredTask): DeadLetter | undefined => {
  const { id, type, status, terminalAt, submittedAt } = task
  if (status !== 'failed') return undefined
  return { kind: 'task', id, type, reason: deadReason ?? 'failed', at: terminalAt ?? submittedAt, task }
}

const entryOf = (id: string, flat: readonly string[]): DeadEntry => {
  const entry = new Map<string, string>()
  for (let i = 0; i + 1 < flat.length; i += 2) entry.set(flat[i] as string, flat[i + 1] as string)
  const laneName = entry.get('lane') ?? ''
  const type = parseLaneName(laneName)?.type
  const fields = JSON.parse(entry.get('fields') ?? '[]') as string[]
  return {
    kind: 'entry',
    id,
    ...(type !== undefined && { type }),
    reason: entry.get('letter') === 'p' ? 'lost' : 'unreadable',
    at: isoTime(Number(id.split('-')[0])),
    lane: laneName,
    fields: Array.from({ length: Math.ceil(fields.length / 2) }, (_, index) => [
      fields[2 * index] ?? '',
      fields[2 * index + 1] ?? '',
    ]),
    isCut: entry.get('cut') === '1',
  }
}
