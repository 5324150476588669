import { workerSatisfiesTags } from '@furystack/task-runner'

import { type Lane, lane } from '../keys/lane.js'
import type { LaneReading } from '../port/lanePort.js'

/**
 * What decides which lanes a worker reads.
 *
 * @example
 * const options: LaneBookOptions = {
 *   types: ['mail'],
 *   compatibleVersions: { mail: [1, 2] },
 *   tags: ['eu'],
 *   visibilityTimeoutMs: () => 60_000,
 *   cap: (type) => (type === 'mail' ? 10 : undefined),
 * }
 */
export interface LaneBookOptions {
  /** The types that the worker has handlers for. */
  readonly types: readonly string[]
  /** A missing or empty list: version 1, and whatever else the registry names. */
  readonly compatibleVersions: Readonly<Record<string, readonly number[]>>
  /** What the worker offers. */
  readonly tags: readonly string[]
  /** After how many idle milliseconds a claim of a type may be taken over. */
  readonly visibilityTimeoutMs: (type: string) => number
  /** How many claims of a type may be open in the whole fleet; `undefined` for any number. */
  readonly cap: (type: string) => number | undefined
  /** How often a task may be delivered without coming to an end. @default no limit */
  readonly maxDeliveries?: (type: string) => number | undefined
}

/**
 * The lanes that one worker reads; it grows as the registry names lanes with tags that the worker offers.
 *
 * @example
 * const found = book.learn([lane('mail', 1, ['eu'])]) // those that are new, and whose tags the worker offers
 * const toRead = book.lanes()
 */
export interface LaneBook {
  /** What is to be read at present. */
  lanes(): readonly LaneReading[]
  /** Takes up the lanes that fit, and answers those that are new. */
  learn(known: readonly Lane[]): readonly Lane[]
}

/**
 * Opens the book with the untagged lanes of the worker's types and versions.
 *
 * @example
 * const limits = { visibilityTimeoutMs: () => 60_000, cap: () => undefined }
 * const book = laneBook({ types: ['mail'], compatibleVersions: { mail: [1, 2] }, tags: [], ...limits })
 * book.lanes().map(({ lane }) => lane.name) // ['mail:v1', 'mail:v2']
 */
export const laneBook = (options: LaneBookOptions): LaneBook => {
  const { types, tags, visibilityTimeoutMs, cap, maxDeliveries } = options
  const versionsOf = (type: string): readonly number[] | undefined => {
    const versions = Object.hasOwn(options.compatibleVersions, type) ? options.compatibleVersions[type] : undefined
    return versions && versions.length > 0 ? versions : undefined
  }
  const reading = (of: Lane): LaneReading => {
    const places = cap(of.type)
    const deliveries = maxDeliveries?.(of.type)
    return {
      lane: of,
      visibilityTimeoutMs: visibilityTimeoutMs(of.type),
      ...(places !== undefined && { cap: places }),
      ...(deliveries !== undefined && { maxDeliveries: deliveries }),
    }
  }
  const own = types.flatMap((type) => (versionsOf(type) ?? [1]).map((version) => lane(type, version)))
  const readings = new Map(own.map((of) => [of.name, reading(of)]))
  let list = [...readings.values()]

  const fits = ({ type, handlerVersion, tags: needed }: Lane): boolean =>
    types.includes(type) && (versionsOf(type)?.includes(handlerVersion) ?? true) && workerSatisfiesTags(tags, needed)

  return {
    lanes: () => list,
    learn: (known) => {
      const found = known.filter((of) => !readings.has(of.name) && fits(of))
      for (const of of found) readings.set(of.name, reading(of))
      if (found.length > 0) list = [...readings.values()]
      return found
    },
  }
}
