import type { OnFinished } from '../../support/redisServer.js'

/** What is to be done at the end, last things first. */
export const ending = (): { readonly atEnd: OnFinished; readonly end: () => Promise<void> } => {
  const ends: Array<() => void | Promise<void>> = []
  return {
    atEnd: (end) => void ends.push(end),
    end: async () => {
      for (let end = ends.pop(); end; end = ends.pop()) await end()
    },
  }
}
