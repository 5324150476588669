import type { StepEntry } from '../../replay/stepEntry.js'
import type { RunnerParts } from '../../runner/runnerParts.js'
import type { CreateTask } from '../../store/createTask.js'
import type { SpawnChild, SpawnResult } from '../../store/spawnChild.js'
import type { Run } from '../run.js'
import { persist } from './persist.js'

/** Records the steps of one run. */
export class StepWriter {
  readonly #background = new Set<Promise<void>>()
  #trouble: { readonly error: unknown } | undefined

  constructor(
    private readonly parts: RunnerParts,
    private readonly run: Run,
  ) {}

  /** Resolves when the step stands, and everything that was recorded in the background; with the time of the step. */
  async record(key: string, entry: StepEntry): Promise<number> {
    const at = await this.#write(key, entry)
    await this.flush()
    return at
  }

  recordInBackground(key: string, entry: StepEntry): void {
    const writing = this.#write(key, entry).then(
      () => void this.#background.delete(writing),
      (error: unknown) => {
        this.#background.delete(writing)
        this.#trouble ??= { error }
      },
    )
    this.#background.add(writing)
  }

  /** Whether something in the background has yet to be recorded, or could not be. */
  get isBehind(): boolean {
    return this.#background.size > 0 || this.#trouble !== undefined
  }

  /** Resolves when nothing is left in the background. Rejects if something could not be recorded. */
  async flush(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background)
    if (this.#trouble !== undefined) throw this.#trouble.error
  }

  /** Brings a child into being, with the step. `exists` is an earlier try whose answer got lost. */
  async spawn(key: string, entry: StepEntry, child: CreateTask): Promise<SpawnResult & { kind: 'spawned' | 'exists' }> {
    const { run, parts } = this
    const { joint, store } = parts
    const step = { key, json: JSON.stringify(entry) }
    const input: SpawnChild = { parentId: run.taskId, attempt: run.attempt, step, child }
    const result = await persist(parts, run, 'spawnChild', () =>
      joint === undefined ? store.spawnChild(input) : joint.spawn(input),
    )
    if (result.kind === 'refused') {
      if (result.reason === 'cancelling') run.cancel(result.cancelReason)
      else run.lose('taken')
      throw this.#reason
    }
    await this.flush()
    return result
  }

  async #write(key: string, entry: StepEntry): Promise<number> {
    const { run, parts } = this
    const { taskId, attempt } = run
    const step = { key, json: JSON.stringify(entry) }
    const result = await persist(parts, run, 'recordStep', () => parts.store.recordStep({ taskId, attempt, step }))
    if (result.kind === 'recorded') return result.at
    if (result.kind === 'exists') return result.step.at
    run.lose('taken')
    throw this.#reason
  }

  get #reason(): Error {
    return this.run.stop?.error ?? new Error(`Attempt ${this.run.attempt} of task ${this.run.taskId} has ended`)
  }
}
