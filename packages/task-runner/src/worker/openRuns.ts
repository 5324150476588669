import type { Run } from './run.js'

/** The runs of a worker whose handlers are running, in no order: a list, in which the last takes the place of the one that leaves. */
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
