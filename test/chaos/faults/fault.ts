import type { Random } from '../run/random.js'
import type { ChaosProcess } from '../world/chaosProcess.js'

/** What a fault is let loose upon. */
export interface Scene {
  readonly workers: readonly ChaosProcess[]
  readonly submitters: readonly ChaosProcess[]
}

/** A fault that has been prepared. */
export interface Strike {
  /** Processes whose present life it is aimed at, or everybody. */
  readonly targets: readonly ChaosProcess[] | 'all'
  readonly begin: () => Promise<unknown>
  /** Between the beginning and the end, in milliseconds. */
  readonly holdMs: number
  readonly end: () => Promise<unknown>
  /** What it may cost of the data. `newest`: what was written in the moment before. */
  readonly loses?: 'everything' | 'newest'
}

/** One of the executioner's means. */
export interface Fault {
  readonly name: string
  /** Faults of one scope come one after the other. */
  readonly scope: 'process' | 'network' | 'server'
  /** It must not be felt by anybody. @default false */
  readonly isHarmless?: boolean
  /** Chooses the victims; nothing happens yet. */
  readonly prepare: (scene: Scene, random: Random) => Strike
}

/** For what has no beginning, or no end. */
export const nothing = (): Promise<void> => Promise.resolve()
