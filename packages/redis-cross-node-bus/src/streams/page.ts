import type { Link } from '../connection/link.js'
import { decodeEntries, type Entry } from './entry.js'
import { PAGE_SCRIPT } from './streamScripts.js'
import { decodeState, type StreamState } from './streamState.js'

/** Some entries of a stream, and how the stream was at that moment. */
export type Page = { readonly state: StreamState; readonly entries: readonly Entry[] }

/** The entries after an id, at most `count` of them. Rejects as `readStreamState` does. */
export async function readPage(link: Link, key: string, after: string, count: number): Promise<Page> {
  const reply = await link.send(['EVAL', PAGE_SCRIPT, '1', key, after, String(count)])
  const [state, entries] = Array.isArray(reply) ? (reply as unknown[]) : []
  return { state: decodeState(state), entries: decodeEntries(entries) }
}
