import { checkObject } from '../argument/checkObject.js'
import { printable } from '../argument/printable.js'
import { IdempotencyConflictError } from '../errors/idempotencyConflictError.js'
import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { InvalidTaskStateError } from '../errors/invalidTaskStateError.js'
import { UnknownTaskError } from '../errors/unknownTaskError.js'
import { UnsupportedDelayError } from '../errors/unsupportedDelayError.js'
import { canonicalJson } from '../json/canonicalJson.js'
import { IdempotencyLeases } from '../queue/idempotencyLeases.js'
import type { CreateResult, CreateTask } from '../store/createTask.js'
import type { StartResult, StartTask } from '../store/startTask.js'
import type { StoredTask } from '../store/storedTask.js'
import type { Task } from '../task/task.js'
import { taskFromCreate } from '../task/taskFromCreate.js'
import { assertParents, refusalOf } from './parentRefusal.js'
import type { HandlerRegistry } from './handlerRegistry.js'
import { keyOfScope, scopedKey } from './idempotencyScope.js'
import { encodePayload, prepareTask } from './prepareTask.js'
import { presentTask } from './presentTask.js'
import type { RunnerParts } from './runnerParts.js'
import type { StartOptions } from './startOptions.js'
import type { SubmitOptions } from './submitOptions.js'

/** For queues without a lease of their own; these leases hold within this process only. */
const LOCAL_LEASE_MS = 86_400_000

const dueOf = ({ notBefore }: Task): number | undefined => (notBefore === undefined ? undefined : Date.parse(notBefore))

/** Brings tasks into being and into the queue. */
export class Submission {
  readonly #localLeases = new IdempotencyLeases(LOCAL_LEASE_MS)

  constructor(
    private readonly parts: RunnerParts,
    private readonly registry: HandlerRegistry,
  ) {}

  async submit<P>(options: SubmitOptions<P>, status: CreateTask['status']): Promise<Task> {
    return this.#place(this.#prepare(options, status), options.resubmitAfterFailure)
  }

  async submitMany<P>(list: ReadonlyArray<SubmitOptions<P>>): Promise<Task[]> {
    const given: unknown = list
    if (!Array.isArray(given)) throw new InvalidArgumentError('list', list, 'an array')
    // `from` looks at holes too, which `map` passes over.
    const creates = Array.from(list, (options) => this.#prepare(options, 'pending'))
    await assertParents(this.parts.store, creates)
    const results = (await this.parts.joint?.submitMany?.(creates)) ?? []
    const tasks: Task[] = []
    // One after the other, so that they are queued in their order.
    for (const [index, create] of creates.entries()) {
      tasks.push(await this.#place(create, list[index]?.resubmitAfterFailure, results[index]))
    }
    return tasks
  }

  async start<P>(taskId: string, options: StartOptions<P> | undefined): Promise<Task> {
    const input: StartTask = { taskId }
    if (options !== undefined && 'payload' in checkObject('options', options)) {
      const json = encodePayload(`task ${printable(taskId)}`, options.payload)
      input.payload = json === undefined ? {} : { json }
    }
    if (!this.#canDelay) {
      const stored = await this.parts.store.get(taskId)
      if (stored?.task.notBefore !== undefined) throw new UnsupportedDelayError()
    }
    const result = await this.#start(input)
    if (result.kind === 'started') return presentTask(result.stored)
    if (result.stored === undefined) throw new UnknownTaskError(taskId)
    throw new InvalidTaskStateError(taskId, result.stored.task.status, 'draft')
  }

  get #canDelay(): boolean {
    return this.parts.adapter.capabilities.delayedDispatch
  }

  #prepare<P>(options: SubmitOptions<P>, status: CreateTask['status']): CreateTask {
    return prepareTask(options, status, { registry: this.registry, canDelay: this.#canDelay })
  }

  /** `made`: what came of the creation, where that has been tried already. */
  async #place(create: CreateTask, resubmitAfterFailure = false, made?: CreateResult): Promise<Task> {
    if (create.idempotencyKey !== undefined) return this.#submitOnce(create, resubmitAfterFailure, made)
    return this.#settle(create, made ?? (await this.#create(create)))
  }

  /** Whoever comes with a key makes the task of the key's holder if it is missing, so nobody has to wait for anybody. */
  async #submitOnce(create: CreateTask, resubmitAfterFailure: boolean, made?: CreateResult): Promise<Task> {
    const { idempotencyKey = '', submittedBy } = create
    const key = keyOfScope(idempotencyKey)
    for (const failed: string[] = []; ;) {
      const attempt = { ...create, idempotencyKey: scopedKey(key, submittedBy, failed) }
      const result = (failed.length === 0 ? made : undefined) ?? (await this.#createOnce(attempt))
      if (result.kind !== 'exists') return this.#settle(attempt, result)
      const { stored } = result
      const { id, status, payload } = stored.task
      if (resubmitAfterFailure && (status === 'failed' || status === 'cancelled')) {
        failed.push(id)
        continue
      }
      const own: unknown = create.payloadJson === undefined ? undefined : JSON.parse(create.payloadJson)
      if (canonicalJson(payload) !== canonicalJson(own)) throw new IdempotencyConflictError(create.type, key, id)
      return status === 'draft' && create.status === 'pending' ? this.#startHeld(stored) : presentTask(stored)
    }
  }

  /** The key belongs to a draft, and whoever submits wants it to run. */
  async #startHeld({ task }: StoredTask): Promise<Task> {
    const result = await this.#start({ taskId: task.id })
    return presentTask({ task: result.stored?.task ?? task })
  }

  #create(create: CreateTask): Promise<CreateResult> {
    const { joint, store } = this.parts
    return joint === undefined || create.status === 'draft' ? store.create(create) : joint.submit(create)
  }

  async #createOnce(create: CreateTask): Promise<CreateResult> {
    const { joint, adapter, store } = this.parts
    if (joint !== undefined && create.status === 'pending') return joint.submit(create)
    const { type, idempotencyKey: key = '', id: taskId } = create
    const id =
      adapter.acquireIdempotencyLease === undefined
        ? this.#localLeases.acquire(type, key, taskId)
        : await adapter.acquireIdempotencyLease({ type, key, taskId })
    return store.create({ ...create, id })
  }

  async #settle(create: CreateTask, result: CreateResult): Promise<Task> {
    if (result.kind === 'refused') throw refusalOf(result)
    // A random id that exists already is our own: the first answer got lost and the step was taken again.
    if (result.kind === 'exists') return presentTask(result.stored)
    const { taskId, at, parentType } = result
    const task = taskFromCreate({ ...create, id: taskId }, at)
    if (parentType !== undefined) this.parts.updates.spawnedChild(parentType, create.parentTaskId ?? '', taskId, at)
    this.#announce(task, at, create.payloadJson)
    if (this.parts.joint === undefined && task.status === 'pending') {
      await this.parts.dispatcher.dispatch(task, create.notBefore)
    }
    return presentTask({ task })
  }

  async #start(input: StartTask): Promise<StartResult> {
    const { joint, store, dispatcher } = this.parts
    const result = joint === undefined ? await store.start(input) : await joint.start(input)
    if (result.kind === 'refused') return result
    const { task } = result.stored
    this.#announce(task, result.at, input.payload === undefined ? undefined : input.payload.json)
    if (joint === undefined) await dispatcher.dispatch(task, dueOf(task))
    return result
  }

  #announce(task: Task, at: number, payloadJson: string | undefined): void {
    const { updates, telemetry } = this.parts
    const { id, type, status, parentTaskId } = task
    updates.status(type, id, status, at)
    if (status === 'draft' || !telemetry.hasListeners('onTaskSubmitted')) return
    const json = payloadJson ?? JSON.stringify(task.payload) ?? ''
    telemetry.emit('onTaskSubmitted', {
      taskId: id,
      type,
      payloadBytes: Buffer.byteLength(json),
      ...(parentTaskId !== undefined && { parentTaskId }),
    })
  }
}
