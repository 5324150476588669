import { type BusMessage, ReplayWindowExceededError } from '@furystack/cross-node-bus'
import type { BusReporter } from '@furystack/cross-node-bus/adapter'
import { reconnectDelayMs, replyCode } from '@furystack/redis-connection'
import { lastValueFrom, type SchedulerLike, timer } from 'rxjs'
import { isTransient } from '../connection/isTransient.js'
import type { Link } from '../connection/link.js'
import { compareRedisStreamId } from './compareRedisStreamId.js'
import { isReaderUpToDate, isReplayComplete } from './completeness.js'
import { decodeMessage } from './entry.js'
import { type Page, readPage } from './page.js'
import type { StreamBook } from './streamBook.js'

/** Which messages to replay, and what that takes. */
export type ReplayRequest = {
  /** As the caller names it. */
  readonly topic: string
  readonly key: string
  readonly fromSeq: string
  /** A connection, for each page; rejects if there is none. */
  readonly link: () => Promise<Link>
  readonly book: StreamBook
  readonly reporter: BusReporter
  readonly retentionMs: number
  /** How long a server may be asked again that does not answer at the moment, milliseconds. */
  readonly patienceMs: number
  readonly scheduler: SchedulerLike
}

/** Messages that are read at once. */
const PAGE_SIZE = 200

/**
 * The messages after `fromSeq` up to the last one at the first step, page by page. Each page comes with the state of the
 * stream at that moment, so nothing is skipped in silence, also if entries are dropped while the caller takes its time.
 */
export async function* replayStream(request: ReplayRequest): AsyncGenerator<BusMessage, void, undefined> {
  const { topic, key, fromSeq, book, retentionMs } = request
  let position = fromSeq
  let end: string | undefined
  for (;;) {
    const { state, entries } = await read(request, position)
    book.look(key, state)
    const isComplete =
      end === undefined
        ? isReplayComplete(state, position, { retentionMs, bornAt: book.bornAt(key) })
        : isReaderUpToDate(state, position, { retentionMs, awayMs: Infinity })
    if (!isComplete) throw new ReplayWindowExceededError(topic, fromSeq, state.firstId)
    end ??= state.lastId
    for (const entry of entries) {
      if (compareRedisStreamId(entry.id, end) > 0) return
      position = entry.id
      const message = decode(entry, request)
      if (message) yield message
    }
    if (entries.length < PAGE_SIZE) return
  }
}

async function read({ link, key, patienceMs, scheduler }: ReplayRequest, position: string): Promise<Page> {
  const endsAt = scheduler.now() + patienceMs
  for (let attempt = 0; ; attempt++) {
    try {
      return await readPage(await link(), key, position, PAGE_SIZE)
    } catch (error) {
      const restMs = reconnectDelayMs(attempt)
      if (!isTransient(replyCode(error)) || scheduler.now() + restMs > endsAt) throw error
      await lastValueFrom(timer(restMs, scheduler), { defaultValue: 0 })
    }
  }
}

function decode(
  entry: Parameters<typeof decodeMessage>[0],
  { topic, reporter }: ReplayRequest,
): BusMessage | undefined {
  try {
    return decodeMessage(entry)
  } catch (error) {
    reporter.failed(topic, 'replay', error)
    return undefined
  }
}
