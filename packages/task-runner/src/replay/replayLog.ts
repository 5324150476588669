import { ReplayMismatchError } from '../errors/replayMismatchError.js'
import type { RecordedStep } from '../store/recordStep.js'
import type { ReplayStepKind } from './replayStepKind.js'
import { decodeStepEntry, type ReplayedStep, type StepEntry } from './stepEntry.js'
import type { StepIdentity } from './stepIdentity.js'

/** What a run starts from. */
export interface ReplayLogOptions {
  readonly taskId: string
  readonly steps: readonly RecordedStep[]
  /** How many attempts have failed. */
  readonly generation: number
  /** Tells of a child that an attempt before the last failure spawned whether it has to be spawned anew. */
  readonly isFailedChild: (taskId: string) => boolean
}

/** A step to be taken: what was recorded of it, or where to record it. */
export type NextStep =
  | { readonly kind: 'replay'; readonly entry: ReplayedStep }
  | { readonly kind: 'live'; readonly key: string; readonly entry: StepEntry }

/**
 * The recorded steps of a task, as one run of its handler goes through them. A step is found by what was asked for and
 * by its number among its equals, not by the order of all calls, so that parallel branches find their own steps.
 *
 * Steps that did not succeed are found by further runs of the same attempt only, that is until the attempt has failed;
 * the next one takes them anew.
 */
export class ReplayLog {
  readonly #taskId: string
  readonly #generation: number
  /** The newest step by its key without the generation. */
  readonly #steps = new Map<string, ReplayedStep>()
  /** Those that this run has to come by, in the order of their recording. */
  readonly #expected = new Map<string, ReplayedStep>()
  readonly #ordinals = new Map<string, number>()
  #count = 0
  #isParallel = false

  constructor({ taskId, steps, generation, isFailedChild }: ReplayLogOptions) {
    this.#taskId = taskId
    this.#generation = generation
    for (const step of steps) {
      const entry = decodeStepEntry(step)
      const key = baseOf(step.key)
      if ((this.#steps.get(key)?.generation ?? -1) < entry.generation) this.#steps.set(key, entry)
    }
    for (const [key, entry] of [...this.#steps].sort(([, a], [, b]) => a.index - b.index)) {
      const { childTaskId } = entry
      if (entry.generation === generation) {
        this.#expected.set(key, entry)
        this.#isParallel ||= entry.isParallel === true
      } else if (entry.hasFailed === true || (childTaskId !== undefined && isFailedChild(childTaskId))) {
        this.#steps.delete(key)
      }
    }
  }

  /**
   * The next step of that identity. `isParallel`: others are under way.
   *
   * Throws a `ReplayMismatchError` for a step that was not recorded, while one that was has not been asked for. Where
   * branches run in parallel that may be in order; then only the end of the run tells.
   */
  next({ kind, name }: StepIdentity, isParallel: boolean): NextStep {
    this.#isParallel ||= isParallel
    const ordinal = this.#ordinals.get(name) ?? 0
    this.#ordinals.set(name, ordinal + 1)
    const index = this.#count++
    const key = `${name}#${ordinal}`
    const found = this.#steps.get(key)
    this.#expected.delete(key)
    if (found !== undefined) return { kind: 'replay', entry: found }
    // An await that threw is not recorded, and changes nothing.
    if (!this.#isParallel && !kind.startsWith('await')) this.#assertNothingLeft(name, isInstant(kind))
    const generation = this.#generation
    return {
      kind: 'live',
      key: `${key}~${generation}`,
      entry: { kind, name, index, generation, ...(isParallel && { isParallel }) },
    }
  }

  /** Throws a `ReplayMismatchError` if the handler has returned without taking a step that was recorded. */
  assertDone(): void {
    this.#assertNothingLeft('the end of the handler')
  }

  /**
   * Where branches run in parallel, one that nobody waits for may be behind; but what was spawned has to be asked for.
   * Instants are recorded beside each other, so a run that was cut off may have left a gap among the last of them.
   */
  #assertNothingLeft(found: string, mayHaveGap = false): void {
    for (const { index, kind, name } of this.#expected.values()) {
      if (this.#isParallel && kind !== 'spawn-child') continue
      if (mayHaveGap && isInstant(kind)) continue
      throw new ReplayMismatchError(this.#taskId, index, name, found)
    }
  }
}

/** Whether a step is recorded in the background, before the next step that is not. */
const isInstant = (kind: ReplayStepKind): boolean => kind === 'now' || kind === 'random'

const baseOf = (key: string): string => key.slice(0, key.lastIndexOf('~'))
