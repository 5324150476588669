import { compareRedisStreamId } from './compareRedisStreamId.js'
import { START_ID } from './completeness.js'
import type { StreamState } from './streamState.js'

/** How many streams are remembered: those looked at last. */
const CAPACITY = 1_000

type Page = { readonly oldest: string | undefined; readonly bornAt: string | undefined }

/**
 * What was last seen of streams: their oldest entry, and whether they have begun anew since they were first seen. Only
 * looking at a stream tells, never replaying it.
 */
export class StreamBook {
  readonly #pages = new Map<string, Page>()

  /** Whether there is room for another stream without forgetting one. */
  get hasRoom(): boolean {
    return this.#pages.size < CAPACITY
  }

  has(key: string): boolean {
    return this.#pages.has(key)
  }

  oldest(key: string): string | undefined {
    return this.#pages.get(key)?.oldest
  }

  bornAt(key: string): string | undefined {
    return this.#pages.get(key)?.bornAt
  }

  /** Takes note of the state of a stream. */
  look(key: string, { lastId, firstId, isTrimmed, nowMs }: StreamState): void {
    const before = this.#pages.get(key)
    let bornAt = before?.bornAt
    if (before?.oldest !== undefined) {
      if (lastId === START_ID) bornAt = `${nowMs}-0`
      // Its first entry is gone although nothing was ever dropped.
      else if (isTrimmed === false && firstId !== undefined && compareRedisStreamId(before.oldest, firstId) < 0)
        bornAt = firstId
    }
    this.#write(key, { oldest: firstId, bornAt })
  }

  /** Takes note of an entry that was added or read: the first one, if the stream was empty. */
  add(key: string, id: string): void {
    const before = this.#pages.get(key)
    if (before && before.oldest === undefined) this.#write(key, { ...before, oldest: id })
  }

  #write(key: string, page: Page): void {
    this.#pages.delete(key)
    this.#pages.set(key, page)
    for (const leastRecent of this.#pages.keys()) {
      if (this.#pages.size <= CAPACITY) return
      this.#pages.delete(leastRecent)
    }
  }
}
