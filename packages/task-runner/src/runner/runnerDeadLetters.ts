import { checkDate } from '../argument/checkDate.js'
import { checkNumber } from '../argument/checkNumber.js'
import { checkObject } from '../argument/checkObject.js'
import { checkTaskId } from '../argument/checkTaskId.js'
import { checkType } from '../argument/checkType.js'
import { DEAD_LETTER_REASONS, type DeadLetter, type DeadLetterReason } from '../deadLetters/deadLetter.js'
import type { DeadLetterBox, DeadLetterPosition, DeadLetterQuery, ResendResult } from '../deadLetters/deadLetterBox.js'
import { decodeCursor, encodeCursor } from '../deadLetters/deadLetterCursor.js'
import type {
  DeadLetterPage,
  DeadLetters,
  DeadLetterSelection,
  ListDeadLetters,
  ResendOptions,
  ResendReport,
} from '../deadLetters/deadLetters.js'
import { listMerged } from '../deadLetters/mergedBoxes.js'
import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { InvalidTaskStateError } from '../errors/invalidTaskStateError.js'
import { ResendRefusedError } from '../errors/resendRefusedError.js'
import { UnknownTaskError } from '../errors/unknownTaskError.js'
import { presentTask } from './presentTask.js'
import type { RunnerParts } from './runnerParts.js'

const MAX_LIMIT = 100
/** Letters that are dealt with at the same time. */
const PAGE = 50
/** Refusals that a report tells of. */
const MAX_REFUSALS = 100

type Selected = (box: DeadLetterBox, letter: DeadLetter) => Promise<boolean>

/** The dead letters of one runner: those of its store, and those of its queue where that is another place. */
export class RunnerDeadLetters implements DeadLetters {
  readonly #boxes: readonly DeadLetterBox[]

  constructor(
    private readonly parts: RunnerParts,
    private readonly assertUsable: () => void,
  ) {
    const { joint, store, adapter } = parts
    const boxes = joint === undefined ? [store.deadLetters, adapter.deadLetters] : [joint.deadLetters]
    this.#boxes = boxes.filter((box) => box !== undefined)
  }

  async list(query: ListDeadLetters = {}): Promise<DeadLetterPage> {
    this.assertUsable()
    const { limit = 20, cursor } = checkObject('query', query)
    checkNumber('limit', limit, { min: 1, max: MAX_LIMIT, integer: true })
    const from = decodeCursor(cursor, this.#boxes.length)
    const { letters, progress } = await listMerged(this.#boxes, { ...filterOf(query), limit }, from)
    const isDone = progress.every((one) => one === 'end')
    return { letters: letters.map(present), ...(!isDone && { cursor: encodeCursor(progress) }) }
  }

  async get(id: string): Promise<DeadLetter | undefined> {
    this.assertUsable()
    checkTaskId('id', id)
    for (const box of this.#boxes) {
      const letter = await box.get(id)
      if (letter !== undefined) return present(letter)
    }
    return undefined
  }

  async count(query: { type?: string | undefined } = {}): Promise<number> {
    this.assertUsable()
    const { type } = checkObject('query', query)
    const wanted = type === undefined ? {} : { type: checkType('type', type) }
    const counts = await Promise.all(this.#boxes.map((box) => box.count(wanted)))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  resend(id: string, options?: ResendOptions): Promise<void>
  resend(selection: DeadLetterSelection, options?: ResendOptions): Promise<ResendReport>
  async resend(which: string | DeadLetterSelection, options: ResendOptions = {}): Promise<void | ResendReport> {
    this.assertUsable()
    const { fromScratch = false } = checkObject('options', options)
    return typeof which === 'string' ? this.#resendOne(which, fromScratch) : this.#resendMany(which, fromScratch)
  }

  discard(id: string): Promise<void>
  discard(selection: DeadLetterSelection): Promise<number>
  async discard(which: string | DeadLetterSelection): Promise<void | number> {
    this.assertUsable()
    if (typeof which !== 'string') return this.#each(which, (box, { id }) => box.discard(id))
    checkTaskId('id', which)
    for (const box of this.#boxes) if (await box.discard(which)) return
    throw await this.#whyNot(which)
  }

  async #resendOne(id: string, fromScratch: boolean): Promise<void> {
    checkTaskId('id', id)
    for (const box of this.#boxes) {
      const result = await this.#resend(box, id, fromScratch)
      if (result.kind === 'resent') return
      const refusal = refusalOf(id, result)
      if (refusal !== undefined) throw refusal
    }
    throw await this.#whyNot(id)
  }

  async #resendMany(selection: DeadLetterSelection, fromScratch: boolean): Promise<ResendReport> {
    const refusals: ResendRefusedError[] = []
    let refused = 0
    const resent = await this.#each(selection, async (box, { id }) => {
      const result = await this.#resend(box, id, fromScratch)
      const refusal = refusalOf(id, result)
      if (refusal !== undefined && refused++ < MAX_REFUSALS) refusals.push(refusal)
      return result.kind === 'resent'
    })
    return { resent, refused, refusals }
  }

  async #resend(box: DeadLetterBox, id: string, fromScratch: boolean): Promise<ResendResult> {
    const result = await box.resend({ id, fromScratch })
    if (result.kind === 'resent' && result.letter.kind === 'task') {
      const { task, reason } = result.letter
      const { updates, telemetry, joint, dispatcher } = this.parts
      updates.status(task.type, id, 'pending', result.at)
      telemetry.emit('onTaskResent', { taskId: id, type: task.type, reason })
      // It stands; if the queue refuses it now, it gets its entry later.
      if (joint === undefined) await dispatcher.tryDispatch(task, task.attempts.length)
    }
    return result
  }

  /** Does something to all that are selected, oldest first; answers to how many it was done. */
  async #each(selection: DeadLetterSelection, act: Selected): Promise<number> {
    const { type, reason } = filterOf(checkObject('selection', selection))
    if (type === undefined) throw new InvalidArgumentError('type', type, 'a non-empty string')
    const { olderThan, limit = Infinity } = selection
    checkNumber('limit', limit, { min: 1, integer: true, infinity: 'all' })
    const filter = { type, ...(reason && { reason }) }
    const before = olderThan === undefined ? undefined : checkDate('olderThan', olderThan)
    let done = 0
    for (const box of this.#boxes) {
      // What fails again while this goes on is newer than the newest there is now.
      const until = before === undefined ? await newestIn(box, type) : before - 1
      if (until !== undefined) done += await eachIn(box, { ...filter, until }, limit - done, act)
    }
    return done
  }

  async #whyNot(id: string): Promise<Error> {
    const stored = await this.parts.store.get(id)
    if (stored === undefined) return new UnknownTaskError(id, 'dead letter')
    return new InvalidTaskStateError(id, stored.task.status, 'failed')
  }
}

const newestIn = async (box: DeadLetterBox, type: string): Promise<number | undefined> => {
  const { letters, next } = await box.list({ type, order: 'newest', limit: 1 })
  const [newest] = letters
  return newest === undefined ? next?.at : Date.parse(newest.at)
}

const eachIn = async (
  box: DeadLetterBox,
  query: Omit<DeadLetterQuery, 'order' | 'after' | 'limit'>,
  limit: number,
  act: Selected,
): Promise<number> => {
  let done = 0
  let after: DeadLetterPosition | undefined
  do {
    const page = Math.min(PAGE, limit - done)
    if (page <= 0) break
    const batch = await box.list({ ...query, order: 'oldest', limit: page, ...(after && { after }) })
    const results = await Promise.all(batch.letters.map((letter) => act(box, letter)))
    done += results.filter(Boolean).length
    after = batch.next
  } while (after !== undefined)
  return done
}

const filterOf = ({ type, reason }: { type?: string | undefined; reason?: DeadLetterReason | undefined }) => {
  if (reason !== undefined && !DEAD_LETTER_REASONS.includes(reason)) {
    throw new InvalidArgumentError('reason', reason, DEAD_LETTER_REASONS.map((one) => JSON.stringify(one)).join(', '))
  }
  return { ...(type !== undefined && { type: checkType('type', type) }), ...(reason !== undefined && { reason }) }
}

const refusalOf = (id: string, result: ResendResult): ResendRefusedError | undefined => {
  switch (result.kind) {
    case 'parent':
      return new ResendRefusedError(id, 'parent-ended', result.parentTaskId)
    case 'key':
      return new ResendRefusedError(id, 'key-taken', result.holderId)
    case 'cut':
      return new ResendRefusedError(id, 'entry-cut')
    default:
      return undefined
  }
}

const present = (letter: DeadLetter): DeadLetter =>
  letter.kind === 'task' ? { ...letter, task: presentTask(letter) } : letter
