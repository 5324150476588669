import { UnknownTaskError } from '../errors/unknownTaskError.js'
import type { CancelResult, CancelTask } from '../store/cancelTask.js'
import { isTerminalStatus, type TerminalStatus } from '../task/taskStatus.js'
import type { RunnerParts } from './runnerParts.js'
import { tellParent } from './tellParent.js'

/** Rows that are cancelled at the same time, at most. */
const BATCH = 64
/** Children that are looked at together. */
const PAGE = 500

const REASONS: Readonly<Record<TerminalStatus, string>> = {
  succeeded: 'parent-completed',
  failed: 'parent-failed',
  cancelled: 'parent-cancelled',
}

/** One node of the tree, and whose child it was reached as. */
interface Node {
  readonly taskId: string
  readonly parentId: string | undefined
}

/** Cancels tasks with all their descendants: rows first, then whoever runs them is told. */
export class Cancellation {
  constructor(
    private readonly parts: RunnerParts,
    /** Tells the workers of this process, which should not have to wait for the bus. */
    private readonly tellLocal: (taskIds: readonly string[], reason: string | undefined) => void,
  ) {}

  /** Rejects if a row could not be written; the other rows are done all the same. */
  async cancel(rootId: string, reason: string | undefined): Promise<void> {
    await this.#cancelAll([{ taskId: rootId, parentId: undefined }], rootId, reason)
  }

  /** Cancels the children of a task that has ended, with all their descendants. Reports trouble, never rejects. */
  async reap(parentId: string, status: TerminalStatus): Promise<void> {
    try {
      const { store } = this.parts
      const childIds = (await store.get(parentId))?.task.childTaskIds ?? []
      const open: Node[] = []
      for (let from = 0; from < childIds.length; from += PAGE) {
        for (const child of await store.getMany(childIds.slice(from, from + PAGE))) {
          if (child && !isTerminalStatus(child.task.status)) open.push({ taskId: child.task.id, parentId })
        }
      }
      await this.#cancelAll(open, parentId, REASONS[status])
      await this.parts.store.markReaped([parentId])
    } catch (error) {
      this.parts.report('reap', error)
    }
  }

  async #cancelAll(roots: Node[], rootId: string, reason: string | undefined): Promise<void> {
    const idsByType = new Map<string, string[]>()
    const failures: unknown[] = []
    const ended: string[] = []
    const seen = new Set([rootId])
    let level = roots
    while (level.length > 0) {
      const next: Node[] = []
      for (let from = 0; from < level.length; from += BATCH) {
        const batch = level.slice(from, from + BATCH)
        const results = await Promise.allSettled(batch.map(({ taskId }) => this.#write(taskId, reason)))
        await Promise.all(results.map((settled, index) => this.#tellParent(batch[index]!.taskId, settled)))
        for (const [index, settled] of results.entries()) {
          if (settled.status === 'rejected') {
            failures.push(settled.reason)
            continue
          }
          if (leavesChildren(settled.value)) ended.push(batch[index]!.taskId)
          for (const child of this.#apply(batch[index]!, settled.value, idsByType, rootId)) next.push(child)
        }
      }
      level = next.filter(({ taskId }) => !seen.has(taskId) && seen.add(taskId))
    }
    this.#tell(idsByType, reason)
    if (failures.length === 0) await this.#markReaped(ended)
    if (failures.length === 1) throw failures[0]
    if (failures.length > 1) throw new AggregateError(failures, `${failures.length} tasks could not be cancelled`)
  }

  /** Their children have been cancelled with them; should this fail, they are looked at once more. */
  async #markReaped(parentIds: readonly string[]): Promise<void> {
    try {
      for (let from = 0; from < parentIds.length; from += PAGE) {
        await this.parts.store.markReaped(parentIds.slice(from, from + PAGE))
      }
    } catch (error) {
      this.parts.report('reap', error)
    }
  }

  async #write(taskId: string, reason: string | undefined): Promise<CancelResult> {
    const { joint, store } = this.parts
    const input: CancelTask = reason === undefined ? { taskId } : { taskId, reason }
    return joint === undefined ? store.cancel(input) : joint.cancel(input)
  }

  async #tellParent(taskId: string, settled: PromiseSettledResult<CancelResult>): Promise<void> {
    if (settled.status === 'rejected' || settled.value.kind !== 'cancelled') return
    const { at, parent } = settled.value
    await tellParent(this.parts, { taskId, status: 'cancelled', at }, parent)
  }

  /** Answers the children, which are looked at below a terminal task as well: they may have outlived it. */
  #apply({ taskId, parentId }: Node, result: CancelResult, idsByType: Map<string, string[]>, rootId: string): Node[] {
    if (result.kind === 'unknown') {
      this.parts.report(
        'cancel',
        new UnknownTaskError(taskId, parentId === undefined ? 'task' : `child of ${parentId}:`),
      )
      return []
    }
    const { task, cancelReason } = result.stored
    const { type, status } = task
    if (result.kind !== 'unchanged') this.parts.updates.status(type, taskId, status, result.at, cancelReason)
    if (result.kind === 'cancelled' && this.parts.telemetry.hasListeners('onTaskCancelled')) {
      const event = { taskId, type }
      this.parts.telemetry.emit(
        'onTaskCancelled',
        parentId === undefined ? event : { ...event, cascadeFromTaskId: rootId },
      )
    }
    if (result.kind !== 'unchanged' || status === 'cancelling') {
      const ids = idsByType.get(type) ?? []
      idsByType.set(type, ids)
      ids.push(taskId)
    }
    return task.childTaskIds.map((childId) => ({ taskId: childId, parentId: taskId }))
  }

  #tell(idsByType: Map<string, string[]>, reason: string | undefined): void {
    for (const [type, taskIds] of idsByType) {
      this.tellLocal(taskIds, reason)
      this.parts.updates.requestCancel(type, taskIds, reason)
    }
  }
}

const leavesChildren = (result: CancelResult): boolean =>
  result.kind === 'cancelled' && result.stored.openChildren !== undefined
