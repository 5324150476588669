/** Reads in a row that show how many lanes are enough. To be wrong costs one round trip more. */
const SURE_AFTER = 64
/** As few lanes as these are always named. */
const FEW = 4

/**
 * How many of many lanes a read names, because each costs something. At first that is all of them. Once as many reads in a
 * row as there are lanes, or 64, have found all that they asked for in the first few, it is as many as those needed at most;
 * twice as many where these gave too little and others had the rest, and all where the others had too little, too.
 *
 *     reads need      1 1 2 1 ... 2   1 1   too little of 2, others have it   too little of 4, others too
 *     lanes named    50 50 50 ...     2 2   4                                 50
 *
 * @example
 * const width = new ReadWidth()
 * const named = lanes.slice(0, width.of(lanes.length))
 */
export class ReadWidth {
  private width = Infinity
  private row = 0
  private needed = 0

  /** How many of `all` lanes are to be named. */
  of(all: number): number {
    return all <= FEW ? all : Math.min(all, this.width)
  }

  /** A read for so many slots has found all that it asked for in the first `needed` lanes of `all`. */
  gaveAll(needed: number, all: number, slots: number): void {
    this.needed = Math.max(this.needed, needed)
    if (++this.row < Math.min(all, SURE_AFTER)) return
    this.width = this.needed <= Math.max(FEW, slots) ? Math.max(2, this.needed) : Infinity
    this.begin()
  }

  /** The lanes that were named have given too little to so many slots. */
  fellShort(hadOthers: boolean, slots: number): void {
    const wider = 2 * this.width
    this.width = hadOthers && wider <= Math.max(FEW, slots) ? wider : Infinity
    this.begin()
  }

  private begin(): void {
    this.row = 0
    this.needed = 0
  }
}
