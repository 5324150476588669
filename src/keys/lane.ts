import { InvalidArgumentError } from '@furystack/task-runner'

/**
 * A lane: the queue of one type and handler version, and of one set of tags. Untagged tasks and each set of tags have a
 * lane of their own, because a stream cannot be filtered.
 *
 * @example
 * const { name, tags }: Lane = lane('render', 2, ['gpu', 'eu']) // 'render:v2:tags=eu,gpu', ['eu', 'gpu']
 */
export interface Lane {
  /** The type of its tasks. */
  readonly type: string
  /** The version of the handler that they ask for. */
  readonly handlerVersion: number
  /** Sorted, without repetition. */
  readonly tags: readonly string[]
  /** What the lane is called behind `queue:`; made by {@link lane}. */
  readonly name: string
}

/**
 * Makes a lane. Its name is `type:vN`, with `:tags=` and the sorted, percent-encoded tags behind it if there are any; no
 * two lanes share a name, whatever characters types and tags hold, because an encoded tag holds no colon.
 *
 * @throws {InvalidArgumentError} for half a surrogate pair, which keys cannot hold
 *
 * @example
 * lane('mail', 1).name // 'mail:v1'
 * lane('render', 2, ['gpu', 'eu']).name // 'render:v2:tags=eu,gpu'
 */
export const lane = (type: string, handlerVersion: number, tags: readonly string[] = []): Lane => {
  // Half a surrogate pair would become another character, and with it another lane.
  if (!type.isWellFormed()) throw new InvalidArgumentError('type', type, 'well-formed Unicode')
  const sorted = [...new Set(tags)].sort()
  const suffix = sorted.length > 0 ? `:tags=${sorted.map(encodeTag).join(',')}` : ''
  return { type, handlerVersion, tags: sorted, name: `${type}:v${String(handlerVersion)}${suffix}` }
}

const encodeTag = (tag: string): string => {
  if (!tag.isWellFormed()) throw new InvalidArgumentError('tags', tag, 'well-formed Unicode')
  return encodeURIComponent(tag)
}

/**
 * Reads a lane's name back; `undefined` for text that is not one.
 *
 * @example
 * parseLaneName('render:v2:tags=eu,gpu')?.tags // ['eu', 'gpu']
 */
export const parseLaneName = (name: string): Lane | undefined => {
  const match = /^([^]+):v(\d+)(?::tags=([^:]*))?$/.exec(name)
  if (!match) return undefined
  const [, type = '', version = '', encoded] = match
  try {
    return lane(type, Number(version), encoded === undefined ? [] : encoded.split(',').map(decodeURIComponent))
  } catch {
    return undefined // a broken percent sequence: not a name of ours
  }
}
