import { ownValue } from '../collections/ownValue.js'
import { MissingTaskRowError } from '../errors/missingTaskRowError.js'
import type { AnyTaskHandlerDescriptor } from '../handler/anyTaskHandlerDescriptor.js'
import type { ClaimOutcome } from '../queue/claimOutcome.js'
import type { ClaimedTask } from '../queue/queueAdapter.js'
import { workerSatisfiesTags } from '../queue/workerSatisfiesTags.js'
import { announceFailure } from '../runner/announceFailure.js'
import type { RunnerParts } from '../runner/runnerParts.js'
import { tellParent } from '../runner/tellParent.js'
import type { BeginResult } from '../store/beginAttempt.js'
import type { BegunTask, ClaimBegun, RunnableTask } from '../store/begunTask.js'
import type { FailedTask } from '../store/storedTask.js'
import { GrowingDelays } from '../time/growingDelays.js'
import type { HandlerTable } from './handlerTable.js'

type Refused = BeginResult & { kind: 'refused' }

/** Either an answer for the queue, or an attempt: with a handler, or without if this worker cannot run it after all. */
export type Intake =
  | { readonly kind: 'answer'; readonly outcome: ClaimOutcome }
  | { readonly kind: 'run'; readonly begun: BegunTask; readonly handler: AnyTaskHandlerDescriptor }
  | { readonly kind: 'giveBack'; readonly begun: BegunTask; readonly delayMs: number }

/** How long a row may be missing before its entry is taken for lost. */
const MISSING_LIMIT_MS = 600_000
/** A row that is not due is looked at again after this, at the earliest: the store's clock may be behind this one. */
const EARLY_AGAIN_MS = 20
/** A live lease is looked at again after this, at the earliest. */
const OWNED_AGAIN_MS = 100

/** For a type that this worker has no handler for. */
const DEFAULT_VISIBILITY_MS = 60_000

const answer = (outcome: ClaimOutcome): Intake => ({ kind: 'answer', outcome })

/** Decides what is to be done about a claim. */
export class ClaimIntake {
  readonly #maxDeliveries: Readonly<Record<string, number>>
  readonly #missing: GrowingDelays
  readonly #misfits: GrowingDelays

  constructor(
    private readonly parts: RunnerParts,
    private readonly workerId: string,
    private readonly tags: readonly string[],
    private readonly handlers: HandlerTable,
  ) {
    this.#missing = new GrowingDelays({ firstMs: 250, maxMs: 30_000 }, parts.clock)
    this.#misfits = new GrowingDelays({ firstMs: 250, maxMs: 5_000 }, parts.clock)
    this.#maxDeliveries = handlers.maxDeliveries(parts.settings.maxDeliveries)
  }

  /** Decides at once about a claim that has begun already. Rejects for trouble of the store. */
  take(claim: ClaimedTask): Intake | Promise<Intake> {
    return claim.begun === undefined ? this.#begin(claim) : this.#decide(claim, claim.begun)
  }

  async #begin(claim: ClaimedTask): Promise<Intake> {
    // Not begun yet, so a task that does not fit can go back without a trace in its row.
    const stored = await this.parts.store.get(claim.taskId)
    if (stored === undefined) return this.#missingRow(claim)
    const { status } = stored.task
    const handler = this.#fit(stored.task)
    if (typeof handler === 'string' && (status === 'pending' || status === 'running')) {
      return this.#requeueAfter(this.#misfit(stored.task, handler))
    }
    const begun = await this.parts.store.beginAttempt({
      taskId: claim.taskId,
      workerId: this.workerId,
      visibilityTimeoutMs: this.#visibilityOf(claim, handler),
      redelivered: claim.redelivered === true,
      maxDeliveries: ownValue(this.#maxDeliveries, claim.type) ?? this.parts.settings.maxDeliveries,
      onlyIfDue: this.parts.adapter.capabilities.delayedDispatch,
    })
    return this.#decide(claim, begun)
  }

  #decide(claim: ClaimedTask, begun: ClaimBegun): Intake | Promise<Intake> {
    switch (begun.kind) {
      case 'begun':
        return this.#begun(begun)
      case 'cancelled':
        return this.#cancelled(begun)
      case 'failed':
        return this.#failed(begun)
      case 'refused':
        return this.#refused(claim, begun)
    }
  }

  #begun(begun: BegunTask): Intake {
    const { task } = begun.stored
    const handler = this.#fit(task)
    if (typeof handler === 'string') return { kind: 'giveBack', begun, delayMs: this.#misfit(task, handler) }
    this.#missing.forget(task.id)
    this.#misfits.forget(task.id)
    return { kind: 'run', begun, handler }
  }

  async #cancelled({ stored, at, parent }: BeginResult & { kind: 'cancelled' }): Promise<Intake> {
    const { task, cancelReason, openChildren } = stored
    this.parts.updates.status(task.type, task.id, 'cancelled', at, cancelReason)
    this.parts.telemetry.emit('onTaskCancelled', { taskId: task.id, type: task.type })
    if (openChildren !== undefined) await this.parts.reapOrphans(task.id, 'cancelled')
    await tellParent(this.parts, { taskId: task.id, status: 'cancelled', at }, parent)
    return answer({ kind: 'cancelled' })
  }

  async #failed(failed: FailedTask): Promise<Intake> {
    await announceFailure(this.parts, failed)
    return answer({ kind: 'failed' })
  }

  #refused(claim: ClaimedTask, { reason, leaseUntil, dueAt = 0 }: Refused): Intake {
    if (reason === 'missing') return this.#missingRow(claim)
    if (reason === 'stale') return answer({ kind: 'success' })
    // The entry that was made for that time is still to come, and this is a second one; or clocks differ.
    if (reason === 'early') return this.#requeueAfter(Math.max(EARLY_AGAIN_MS, dueAt - this.parts.clock.now()))
    // Where leases are swept a duplicate may go. Where the queue alone brings tasks back, this may be all that is left of
    // one whose worker died, or never learned that it had begun: it has to come back when that lease is over.
    if (!this.parts.adapter.capabilities.brokerSideReclaim) return answer({ kind: 'success' })
    const leaseMs = (leaseUntil ?? 0) - this.parts.clock.now()
    return this.#requeueAfter(Math.max(OWNED_AGAIN_MS, Math.min(leaseMs, this.#visibilityOf(claim, undefined))))
  }

  #requeueAfter(delayMs: number): Intake {
    return answer({ kind: 'requeue', notBefore: new Date(this.parts.clock.now() + Math.ceil(delayMs)) })
  }

  #missingRow({ taskId, type }: ClaimedTask): Intake {
    const { delayMs, count, sinceMs } = this.#missing.next(taskId)
    if (sinceMs < MISSING_LIMIT_MS) return this.#requeueAfter(delayMs)
    this.#missing.forget(taskId)
    this.parts.report('claim', new MissingTaskRowError(taskId, type, count))
    return answer({ kind: 'success' })
  }

  #visibilityOf(
    { type, visibilityTimeoutMs }: ClaimedTask,
    handler: AnyTaskHandlerDescriptor | string | undefined,
  ): number {
    if (visibilityTimeoutMs !== undefined) return visibilityTimeoutMs
    if (typeof handler === 'object') return handler.visibilityTimeoutMs
    return ownValue(this.handlers.visibilityTimeoutMs, type) ?? DEFAULT_VISIBILITY_MS
  }

  #fit({ type, handlerVersion, tags }: RunnableTask): AnyTaskHandlerDescriptor | 'version' | 'tags' {
    const handler = this.handlers.find(type, handlerVersion)
    if (handler === undefined) return 'version'
    return tags.length === 0 || workerSatisfiesTags(this.tags, tags) ? handler : 'tags'
  }

  #misfit({ id, type, handlerVersion, tags }: RunnableTask, reason: 'version' | 'tags'): number {
    const { telemetry } = this.parts
    if (telemetry.hasListeners('onTaskMisfit')) {
      telemetry.emit('onTaskMisfit', { taskId: id, type, handlerVersion, tags, workerId: this.workerId, reason })
    }
    return this.#misfits.next(id).delayMs
  }
}
