/** What is yet to come in a world, beside what its tasks do. */
export interface Agenda {
  /** Whether nothing is. */
  readonly isEmpty: boolean
  after(ms: number, then: () => void): void
}

/** Has nothing on it yet. */
export const agenda = (): Agenda => {
  let comings = 0
  return {
    get isEmpty() {
      return comings === 0
    },
    after: (ms, then) => {
      comings++
      setTimeout(() => {
        comings--
        then()
      }, ms)
    },
  }
}
