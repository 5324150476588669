import type { DeadLetter } from './deadLetter.js'
import type { DeadLetterBatch, DeadLetterBox, DeadLetterQuery } from './deadLetterBox.js'
import type { DeadLetterProgress } from './deadLetterCursor.js'
import { comparePositions, positionOf } from './deadLetterPosition.js'

/** A page is asked for again so often, if those so far held nothing of what is wanted. */
const MAX_EMPTY_PAGES = 10

/** A page over several boxes, newest first, and how far each has been read. */
export const listMerged = async (
  boxes: readonly DeadLetterBox[],
  query: Omit<DeadLetterQuery, 'order' | 'after'>,
  progress: DeadLetterProgress,
): Promise<{ letters: DeadLetter[]; progress: DeadLetterProgress }> => {
  const batches = await Promise.all(boxes.map((box, index) => listSome(box, query, progress[index] ?? 'start')))
  const all = batches.flatMap(({ letters }, box) => letters.map((letter) => ({ letter, box })))
  all.sort((a, b) => comparePositions(positionOf(b.letter), positionOf(a.letter)))
  const taken = all.slice(0, query.limit)
  return {
    letters: taken.map(({ letter }) => letter),
    progress: batches.map(({ letters, next }, box) => {
      const count = taken.filter((one) => one.box === box).length
      const last = letters[count - 1]
      if (count === letters.length) return next ?? 'end'
      return last === undefined ? (progress[box] ?? 'start') : positionOf(last)
    }),
  }
}

const listSome = async (
  box: DeadLetterBox,
  query: Omit<DeadLetterQuery, 'order' | 'after'>,
  from: DeadLetterProgress[number],
): Promise<DeadLetterBatch> => {
  if (from === 'end') return { letters: [] }
  let batch: DeadLetterBatch = { letters: [], ...(from !== 'start' && { next: from }) }
  for (let pages = 0; pages < MAX_EMPTY_PAGES; pages++) {
    const { next: after } = batch
    batch = await box.list({ ...query, order: 'newest', ...(after && { after }) })
    if (batch.letters.length > 0 || batch.next === undefined) break
  }
  return batch
}
