import type { UnservedChange } from '../queue/unservedChange.js'

/** What was found to be unserved when somebody looked last. */
export class UnservedLanes {
  #known = new Map<string, UnservedChange>()

  /** Takes what is found now, and answers what is new, and what is over. */
  changesTo(found: readonly UnservedChange[]): UnservedChange[] {
    const before = this.#known
    this.#known = new Map(found.map((change) => [nameOf(change), change]))
    const begun = found.filter((change) => !before.has(nameOf(change)))
    const over = [...before].filter(([name]) => !this.#known.has(name))
    return [...begun, ...over.map(([, { type, handlerVersion, tags }]) => ({ type, handlerVersion, tags }))]
  }
}

const nameOf = ({ type, handlerVersion, tags }: UnservedChange): string => JSON.stringify([type, handlerVersion, tags])
