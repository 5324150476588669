import { compareRedisStreamId, millisecondsOf } from './compareRedisStreamId.js'
import type { StreamState } from './streamState.js'

/** The position before every entry. */
export const START_ID = '0-0'

/** What is known of a stream besides its state. */
export type ReplayContext = {
  /** How long the stream is kept after its last entry. */
  readonly retentionMs: number
  /** The stream is known to have begun anew at this id. */
  readonly bornAt: string | undefined
}

/** What is known of a reader besides its position. */
export type ReaderContext = {
  readonly retentionMs: number
  /** How long it could not read. */
  readonly awayMs: number
}

/**
 * Whether everything that was ever added after `position` is still in the stream. The position may be made up, so one
 * before the first entry is taken for good if nothing was dropped, unless the stream is known, or likely, to have had a
 * life before this one.
 */
export function isReplayComplete(state: StreamState, position: string, context: ReplayContext): boolean {
  // No clock has ever shown the first millisecond of 1970, so whoever asks for it wants everything.
  switch (compareWith(state, millisecondsOf(position) === 0 ? START_ID : position)) {
    case 'complete':
      return true
    case 'before the first':
      if (context.bornAt !== undefined && compareRedisStreamId(position, context.bornAt) < 0) return false
      // A stream of that age may have vanished for want of entries, and come back.
      return millisecondsOf(position) >= state.nowMs - context.retentionMs
    case 'unknown':
    case 'dropped':
    case 'ahead':
      return false
  }
}

/**
 * Whether a reader who has read everything up to `position`, which is an id that the stream once gave, has missed
 * nothing of what came after it.
 */
export function isReaderUpToDate(state: StreamState, position: string, context: ReaderContext): boolean {
  switch (compareWith(state, position)) {
    case 'complete':
      return true
    case 'unknown':
      // It began to read when there was no stream, on a server that does not count: no reason to cry wolf.
      return true
    case 'dropped':
      return false
    case 'before the first':
    case 'ahead': {
      // The stream is not the one that gave the id. If it vanished for want of entries, there was nothing to miss.
      const idleMs =
        (state.firstId === undefined ? state.nowMs : millisecondsOf(state.firstId)) - millisecondsOf(position)
      return idleMs >= context.retentionMs && context.awayMs < context.retentionMs
    }
  }
}

type Comparison = 'complete' | 'unknown' | 'dropped' | 'before the first' | 'ahead'

function compareWith({ lastId, firstId, isTrimmed }: StreamState, position: string): Comparison {
  if (position === START_ID) return isTrimmed === undefined ? 'unknown' : isTrimmed ? 'dropped' : 'complete'
  const toLast = compareRedisStreamId(position, lastId)
  if (toLast > 0) return 'ahead'
  if (toLast === 0 || (firstId !== undefined && compareRedisStreamId(position, firstId) >= 0)) return 'complete'
  return isTrimmed === false ? 'before the first' : 'dropped'
}
