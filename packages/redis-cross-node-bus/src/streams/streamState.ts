import type { Link } from '../connection/link.js'
import { STATE_SCRIPT } from './streamScripts.js'

/** How a stream is at one moment. */
export type StreamState = {
  /** The last id it gave, whether or not its entry is still there; `0-0` if it does not exist. */
  readonly lastId: string
  /** The id of its first entry. */
  readonly firstId: string | undefined
  /** Whether entries were dropped at its beginning; `undefined` on servers that do not tell (before 7.0). */
  readonly isTrimmed: boolean | undefined
  /** Epoch milliseconds by the clock of the server. */
  readonly nowMs: number
}

/** Asks for the state of a stream. Rejects as the link does, or with a `TypeError` for a reply that makes no sense. */
export async function readStreamState(link: Link, key: string): Promise<StreamState> {
  // With the whole text rather than its hash: asked for rarely, and it must not change its place among other commands.
  return decodeState(await link.send(['EVAL', STATE_SCRIPT, '1', key]))
}

/** The part of a script's reply that tells the state. */
export function decodeState(reply: unknown): StreamState {
  const [lastId, firstId, length, added, nowMs] = Array.isArray(reply) ? (reply as unknown[]) : []
  if (typeof lastId !== 'string' || typeof firstId !== 'string' || typeof length !== 'number') {
    throw new TypeError('Redis answered with something that is no state of a stream')
  }
  return {
    lastId,
    firstId: firstId === '' ? undefined : firstId,
    isTrimmed: added === -1 ? undefined : Number(added) > length,
    nowMs: Number(nowMs),
  }
}
