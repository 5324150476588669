import type { Board } from './board.js'
import type { FleetListener, FleetWorker } from './fleet.js'
import { countOf, formatMs } from './format.js'
import type { Loss } from './killBusyWorker.js'
import { CONCURRENCY_LIMITS, type LaneType } from './settings.js'
import type { WorkerMessage } from './workerMessage.js'

/** Makes notes of what happens in the fleet that is worth a line. */
export class Narrator implements FleetListener {
  /** When anything was heard of a worker last; milliseconds of the monotonic clock. */
  heardAt = performance.now()
  #loss: { readonly loss: Loss; readonly at: number; readonly takenOver: Map<string, number> } | undefined
  readonly #told = new Set<string>()

  constructor(private readonly board: Board) {}

  onKill(loss: Loss): void {
    const { worker, taskIds } = loss
    this.#loss = { loss, at: performance.now(), takenOver: new Map() }
    const share = Math.floor((100 * this.board.done) / this.board.total)
    const left = countOf(taskIds.length, 'task')
    this.board.note(`SIGKILL for ${worker.name} (pid ${worker.pid}) at ${share} %, with ${left} in hand:`, {
      tone: 'bad',
    })
    for (const taskId of taskIds) this.board.note(`  ${worker.name} leaves`, { tone: 'bad', taskId })
  }

  onMessage(worker: FleetWorker, message: WorkerMessage): void {
    this.heardAt = performance.now()
    switch (message.kind) {
      case 'ready':
        return this.board.note(`${worker.name} is ready (pid ${worker.pid})`)
      case 'started':
        return this.#onStart(message.taskId)
      case 'retry':
        return this.board.note(`to be tried again (${message.error}):`, { tone: 'bad', taskId: message.taskId })
      case 'ended':
        return this.#onEnd(worker, message)
      case 'capFull':
        return this.#once(`${message.type} is at its limit of ${limitOf(message.type)} in the fleet, the others wait`)
      case 'trouble':
        return this.#once(`${worker.name}: ${message.text}`, 'bad')
      default:
    }
  }

  /** What this process could not do; told once, however often it is tried. */
  onTrouble(text: string): void {
    this.#once(text, 'bad')
  }

  onOutput(worker: FleetWorker, line: string): void {
    this.board.note(`${worker.name} says: ${line}`, { tone: 'bad' })
  }

  onCrash(worker: FleetWorker, how: string): void {
    this.board.note(`${worker.name} (pid ${worker.pid}) has ended unexpectedly: ${how}`, { tone: 'bad' })
  }

  #onStart(taskId: string): void {
    const { loss, at, takenOver } = this.#loss ?? {}
    if (loss?.taskIds.includes(taskId)) takenOver?.set(taskId, performance.now() - (at ?? 0))
  }

  #onEnd(worker: FleetWorker, { taskId, status }: WorkerMessage & { kind: 'ended' }): void {
    if (status === 'failed') this.board.note('failed for good:', { tone: 'bad', taskId })
    const { loss, takenOver } = this.#loss ?? {}
    if (!loss?.taskIds.includes(taskId) || worker === loss.worker) return
    const after = formatMs(takenOver?.get(taskId))
    this.board.note(`${worker.name} took over ${after} after the kill, and finished`, { tone: 'good', taskId })
  }

  #once(text: string, tone?: 'bad'): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.board.note(text, tone && { tone })
  }
}

const limitOf = (type: string): number | undefined => CONCURRENCY_LIMITS[type as LaneType]
