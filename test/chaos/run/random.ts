/** Chance that comes the same again with the same seed. */
export interface Random {
  /** From 0 up to 1. */
  next(): number
  /** A whole number, both ends included. */
  int(min: number, max: number): number
  pick<T>(list: readonly T[]): T
  chance(share: number): boolean
  /** A new list in another order. */
  shuffled<T>(list: readonly T[]): T[]
}

/** Mulberry32 over a hash of the text, so that `7/worker` and `7/submitter` have nothing in common. */
export const randomOf = (seed: string): Random => {
  let state = 2_166_136_261
  for (const byte of new TextEncoder().encode(seed)) state = Math.imul(state ^ byte, 16_777_619)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new RangeError('There is nothing to pick from')
    return list[int(0, list.length - 1)] as T
  }
  return {
    next,
    int,
    pick,
    chance: (share) => next() < share,
    shuffled: (list) => {
      const rest = [...list]
      return list.map(() => rest.splice(int(0, rest.length - 1), 1)[0] as (typeof rest)[number])
    },
  }
}
