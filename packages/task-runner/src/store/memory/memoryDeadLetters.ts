import { SortedList } from '../../collections/sortedList.js'
import type { DeadLetter } from '../../deadLetters/deadLetter.js'
import type { DeadLetterBatch, DeadLetterPosition, DeadLetterQuery } from '../../deadLetters/deadLetterBox.js'
import { comparePositions } from '../../deadLetters/deadLetterPosition.js'
import { isoTime } from '../../time/isoTime.js'
import type { MemoryRow } from './memoryRow.js'
import { toStoredTask } from './toStoredTask.js'

/** A page looks at so many letters at most. */
const LOOKED_AT = 1_000

type Letters = SortedList<DeadLetterPosition>

/** The failed rows in the order of their ends, all together and by type. */
export class MemoryDeadLetters {
  readonly #all: Letters = new SortedList(comparePositions)
  readonly #byType = new Map<string, Letters>()

  constructor(private readonly find: (taskId: string) => MemoryRow | undefined) {}

  add(row: MemoryRow): void {
    const { type } = row.created
    const position = positionOfRow(row)
    this.#all.add(position)
    const ofType = this.#byType.get(type) ?? new SortedList(comparePositions)
    this.#byType.set(type, ofType)
    ofType.add(position)
  }

  /** To be called while the row still is what it was added as. */
  delete(row: MemoryRow): void {
    const { type } = row.created
    const position = positionOfRow(row)
    if (!this.#all.delete(position)) return
    const ofType = this.#byType.get(type)
    ofType?.delete(position)
    if (ofType?.size === 0) this.#byType.delete(type)
  }

  count(type: string | undefined): number {
    return this.#lettersOf(type)?.size ?? 0
  }

  /** What counts as removed at that time is passed over. */
  get(taskId: string, at: number): DeadLetter | undefined {
    const row = this.find(taskId)
    return row?.status === 'failed' && (row.removeAt ?? Infinity) > at ? letterOf(row) : undefined
  }

  list({ type, reason, order, after, until = Infinity, limit }: DeadLetterQuery, at: number): DeadLetterBatch {
    const letters: DeadLetter[] = []
    let next: DeadLetterPosition | undefined
    let looked = 0
    for (const position of this.#lettersOf(type)?.from(after, order === 'oldest' ? 'forwards' : 'backwards') ?? []) {
      if (letters.length === limit || looked === LOOKED_AT) return { letters, ...(next && { next }) }
      if (position.at > until && order === 'oldest') break
      looked++
      next = position
      const isWanted = position.at <= until && (reason === undefined || position.reason === reason)
      const letter = isWanted ? this.get(position.id, at) : undefined
      if (letter !== undefined) letters.push(letter)
    }
    return { letters }
  }

  #lettersOf(type: string | undefined): Letters | undefined {
    return type === undefined ? this.#all : this.#byType.get(type)
  }
}

const positionOfRow = ({
  created: { id, type },
  deadReason: reason,
  terminalAt: at = 0,
}: MemoryRow): DeadLetterPosition => ({
  at,
  kind: 'task',
  reason,
  type,
  id,
})

const letterOf = (row: MemoryRow): DeadLetter => ({
  kind: 'task',
  id: row.created.id,
  type: row.created.type,
  reason: row.deadReason,
  at: isoTime(row.terminalAt ?? 0),
  task: toStoredTask(row).task,
})
