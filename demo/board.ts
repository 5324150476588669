import { printable } from './display/text.js'
import type { FleetWorker } from './fleet.js'
import { isIdle, type LaneState } from './laneState.js'
import type { Plan } from './plan.js'
import { LANE_TYPES, type LaneType } from './settings.js'

/** Something worth a line. */
export interface BoardEvent {
  /** Seconds since the start. */
  readonly at: number
  readonly text: string
  /** The file that it is about; follows the text. */
  readonly path: string | undefined
  readonly tone: 'plain' | 'good' | 'bad'
}

/** One lane, as it is shown. */
export interface LaneRow {
  readonly type: LaneType
  readonly total: number
  readonly waiting: number
  readonly running: number
  readonly parked: number
  readonly done: number
}

/** All that a display shows. Whoever learns something writes it here; displays read it when they draw. */
export class Board {
  /** What is going on. */
  phase = 'starting'
  workers: readonly FleetWorker[] = []
  readonly events: BoardEvent[] = []
  /** What is done, and where. */
  readonly title: string
  readonly total: number
  readonly #totals = new Map<LaneType, number>(LANE_TYPES.map((type) => [type, 0]))
  #lanes: readonly LaneState[] = []
  #submittedBefore: ReadonlyMap<LaneType, number> = new Map()
  readonly #submitted = new Map<LaneType, number>(LANE_TYPES.map((type) => [type, 0]))
  readonly #paths = new Map<string, string>()
  readonly #startedAt = performance.now()
  readonly #listeners: ((event: BoardEvent) => void)[] = []

  constructor(
    title: string,
    /** Who does it, and how slowly. */
    readonly remark: string,
    { tasks }: Plan,
  ) {
    this.title = printable(title)
    this.total = tasks.length
    for (const { type } of tasks) this.#totals.set(type, (this.#totals.get(type) ?? 0) + 1)
  }

  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1_000
  }

  get rows(): LaneRow[] {
    return LANE_TYPES.map((type) => {
      const { entries = 0, running = 0, parked = 0 } = this.#lanes.find((one) => one.type === type) ?? {}
      const submitted = this.#submittedBefore.get(type) ?? 0
      return {
        type,
        total: this.#totals.get(type) ?? 0,
        waiting: Math.max(0, entries - running),
        running,
        parked,
        // What was submitted and is in Redis no more.
        done: Math.max(0, submitted - entries - parked),
      }
    })
  }

  get done(): number {
    return this.rows.reduce((sum, { done }) => sum + done, 0)
  }

  get isSubmitted(): boolean {
    return [...this.#submittedBefore.values()].reduce((sum, count) => sum + count, 0) === this.total
  }

  /** Whether nothing is waiting, running or parked any more. */
  get isDone(): boolean {
    return this.isSubmitted && isIdle(this.#lanes)
  }

  /** Asks how the lanes are. What is submitted meanwhile does not count yet: the answer may be older. */
  async look(readLanes: () => Promise<readonly LaneState[]>): Promise<void> {
    const before = new Map(this.#submitted)
    this.#lanes = await readLanes()
    this.#submittedBefore = before
  }

  addTask(taskId: string, type: LaneType, path: string): void {
    this.#paths.set(taskId, printable(path))
    this.#submitted.set(type, (this.#submitted.get(type) ?? 0) + 1)
  }

  pathOf(taskId: string): string {
    return this.#paths.get(taskId) ?? taskId
  }

  note(text: string, { tone = 'plain', taskId }: { tone?: BoardEvent['tone']; taskId?: string } = {}): void {
    const path = taskId === undefined ? undefined : this.pathOf(taskId)
    const event = { at: this.seconds, text: printable(text), path, tone }
    this.events.push(event)
    for (const listener of this.#listeners) listener(event)
  }

  onNote(listener: (event: BoardEvent) => void): void {
    this.#listeners.push(listener)
  }
}
