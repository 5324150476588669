import type { RecordedStep } from '../store/recordStep.js'
import type { ReplayStepKind } from './replayStepKind.js'

/** A recorded step as runs see it. */
export interface StepEntry {
  readonly kind: ReplayStepKind
  /** The name of its identity. */
  readonly name: string
  /** The place among the steps of the run that recorded it, from 0. */
  readonly index: number
  /** How many attempts had failed when it was recorded. */
  readonly generation: number
  /** Other steps were under way at that time. */
  readonly isParallel?: boolean
  /** It did not succeed, so that an attempt after a failure takes it anew. */
  readonly hasFailed?: boolean
  readonly childTaskId?: string
  readonly output?: unknown
}

/** A step with the time at which it was recorded, in epoch milliseconds by the store's clock. */
export type ReplayedStep = StepEntry & { readonly at: number }

/** Reads a step from what the store kept. */
export const decodeStepEntry = ({ json, at }: RecordedStep): ReplayedStep => ({
  ...(JSON.parse(json) as StepEntry),
  at,
})
