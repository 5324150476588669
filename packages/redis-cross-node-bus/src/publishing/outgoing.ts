import type { PublishFailure } from './publishError.js'

/** A message on its way to Redis. */
export type Outgoing = {
  /** As the caller named it. */
  readonly topic: string
  readonly key: string
  readonly json: string
  /** ISO 8601. */
  readonly emittedAt: string
  /** UTF-8 length of `json`. */
  readonly byteLength: number
  /** When it came, by the scheduler's clock. */
  readonly since: number
  /** Redis has it, as the entry with this id. */
  readonly accept: (id: string) => void
  readonly fail: (reason: PublishFailure, cause?: unknown) => void
  /** The bus has ended. */
  readonly abort: () => void
}
