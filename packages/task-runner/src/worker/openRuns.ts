import type { Run } from './run.js'

/**
 * The runs of a worker whose handlers are running, in no order.
 *
 * A list, because runs come and go with each task: V8 makes a set's table anew every few dozen of them, among the old
 * objects once the set is old, and all that a table named when it was left gets old with it.
 */
export class OpenRuns {
  readonly #list: Run[] = []

  /** As they are now: whoever goes through them may end some. */
  get all(): readonly Run[] {
    return [...this.#list]
  }

  add(run: Run): void {
    run.openAt = this.#list.length
    this.#list.push(run)
  }

  /** Once for each that was added: the last of the list takes its place. */
  remove(run: Run): void {
    const last = this.#list.pop()
    if (last === undefined || last === run) return
    last.openAt = run.openAt
    this.#list[run.openAt] = last
  }
}
