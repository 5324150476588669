import { Deque } from '../collections/deque.js'
import type { QueueEntry } from './queueEntry.js'

/** The waiting entries of one version of one type with one set of tags, first in, first out. */
export interface Lane {
  readonly key: string
  readonly version: number
  readonly tags: readonly string[]
  readonly entries: Deque<QueueEntry>
}

/** Which lane of its type an entry belongs to. */
export const laneKeyOf = ({ version, tags }: QueueEntry): string =>
  tags.length === 0 ? `${version}` : `${version}\0${tags.join('\0')}`

/** The lane of an entry, without it. */
export const laneFor = ({ version, tags }: QueueEntry, key: string): Lane => ({
  key,
  version,
  tags,
  entries: new Deque(),
})
