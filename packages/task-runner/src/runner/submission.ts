import { checkObject } from '../argument/checkObject.js'
import { printable } from '../argument/printable.js'
import { IdempotencyConflictError } from '../errors/idempotencyConflictError.js'
import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { InvalidTaskStateError } from '../errors/invalidTaskStateError.js'
import { UnknownTaskError } from '../errors/unknownTaskError.js'
import { UnsupportedDelayError } from '../errors/unsupportedDelayError.js'
import { canonicalJson } from '../json/canonicalJson.js'
import type { CreateManyResult, CreateResult, CreateTask } from '../store/createTask.js'
import type { StartResult, StartTask } from '../store/startTask.js'
import type { StoredTask } from '../store/storedTask.js'
import type { Task } from '../task/task.js'
import { taskFromCreate } from '../task/taskFromCreate.js'
import { assertParents, refusalOf } from './parentRefusal.js'
import { checkKeys } from './checkKeys.js'
import type { HandlerRegistry } from './handlerRegistry.js'
import { keyOfScope } from './idempotencyScope.js'
import { encodePayload, prepareTask } from './prepareTask.js'
import { presentTask } from './presentTask.js'
import type { RunnerParts } from './runnerParts.js'
import type { StartOptions } from './startOptions.js'
import { markDuplicate, type SubmittedTask } from './submittedTask.js'
import type { SubmitOptions } from './submitOptions.js'

/** When a task is due that is not so yet. */
const dueAfter = (at: number, { notBefore = '' }: Task): number | undefined => {
  const due = Date.parse(notBefore)
  return due > at ? due : undefined
}

/** Brings tasks into being and into the queue. */
export class Submission {
  constructor(
    private readonly parts: RunnerParts,
    private readonly registry: HandlerRegistry,
  ) {}

  async submit<P>(options: SubmitOptions<P>, status: CreateTask['status']): Promise<SubmittedTask> {
    const create = this.#prepare(options, status)
    const result = await this.#create(create)
    // Each promise on the way takes its time, and most submissions need no more of them.
    if (result.kind === 'created' && this.parts.joint !== undefined) return this.#created(create, result)
    return this.#place(create, result)
  }

  async submitMany<P>(list: ReadonlyArray<SubmitOptions<P>>): Promise<SubmittedTask[]> {
    const given: unknown = list
    if (!Array.isArray(given)) throw new InvalidArgumentError('list', list, 'an array')
    // `from` looks at holes too, which `map` passes over.
    const creates = Array.from(list, (options) => this.#prepare(options, 'pending'))
    checkKeys(creates)
    await assertParents(this.parts.store, creates)
    /** Those of the first steps, which are told of while the broker works on the others. */
    const created: Array<Task | undefined> = []
    const tellCreated = (results: readonly CreateManyResult[]): void => {
      for (const result of results) {
        const create = creates[created.length] as CreateTask
        created.push(result.kind === 'created' ? this.#created(create, result) : undefined)
      }
    }
    const results = await this.#createMany(creates, tellCreated)
    for (const [index, result] of results.entries()) {
      if (result.kind === 'withheld' && result.stored) assertSamePayload(creates[index] as CreateTask, result.stored)
    }
    const tasks: SubmittedTask[] = []
    const failures: unknown[] = []
    // One after the other, so that they are queued in their order.
    for (const [index, create] of creates.entries()) {
      const answer = results[index]
      // Where the payloads are the same after all, in other words, each is a submission of its own.
      const result = answer?.kind === 'withheld' ? undefined : answer
      try {
        tasks.push(created[index] ?? (await this.#place(create, result)))
      } catch (error) {
        // What has been created is to be announced, whatever is wrong with its neighbour.
        if (result === undefined) throw error
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    return tasks
  }

  async start<P>(taskId: string, options: StartOptions<P> | undefined): Promise<Task> {
    const input: StartTask = { taskId }
    if (options !== undefined && 'payload' in checkObject('options', options)) {
      const json = encodePayload(
        () => `task ${printable(taskId)}`,
        options.payload,
        this.parts.settings.maxPayloadBytes,
      )
      input.payload = json === undefined ? {} : { json }
    }
    if (!this.#canDelay) {
      const stored = await this.parts.store.get(taskId)
      if (stored?.task.status === 'draft' && stored.task.notBefore !== undefined) throw new UnsupportedDelayError()
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
    const { idempotencyTtlSec } = this.parts.adapter
    return prepareTask(options, status, {
      registry: this.registry,
      canDelay: this.#canDelay,
      maxPayloadBytes: this.parts.settings.maxPayloadBytes,
      ...(idempotencyTtlSec !== undefined && { keyTtlMs: idempotencyTtlSec * 1_000 }),
    })
  }

  /** `made`: what came of the creation, where that has been tried already. */
  async #place(create: CreateTask, made?: CreateResult): Promise<SubmittedTask> {
    const result = made ?? (await this.#create(create))
    const isHeld = result.kind === 'exists' && create.idempotencyKey !== undefined
    return isHeld ? this.#answerWithHolder(create, result.stored) : this.#settle(create, result)
  }

  /** The key belongs to a task already. */
  async #answerWithHolder(create: CreateTask, stored: StoredTask): Promise<SubmittedTask> {
    const { id, status } = stored.task
    assertSamePayload(create, stored)
    // It belongs to a draft, and whoever submits wants it to run.
    const started = status === 'draft' && create.status === 'pending' ? await this.#start({ taskId: id }) : undefined
    return markDuplicate(presentTask({ task: started?.stored?.task ?? stored.task }))
  }

  /** Whoever comes with a key makes the task of the key's holder if it is missing, so nobody has to wait for anybody. */
  #create(create: CreateTask): Promise<CreateResult> {
    const { joint, store } = this.parts
    if (joint === undefined) return this.#createApart(create)
    return create.status === 'draft' ? store.create(create) : joint.submit(create)
  }

  /** All or nothing, where that can be done; nothing where each is to be created by itself. */
  async #createMany(
    creates: readonly CreateTask[],
    onResults: (results: readonly CreateManyResult[]) => void,
  ): Promise<CreateManyResult[]> {
    const { joint, store } = this.parts
    if (joint !== undefined) return (await joint.submitMany?.(creates, onResults)) ?? []
    if (store.createMany === undefined) return []
    const leased: CreateTask[] = []
    // Which task comes after one that has failed is decided by the store, whoever has the lease.
    for (const create of creates) leased.push(create.resubmitAfterFailure ? create : await this.#leased(create))
    return store.createMany(leased)
  }

  /** Key and row lie in two places. */
  async #createApart(create: CreateTask): Promise<CreateResult> {
    const { store } = this.parts
    const leased = await this.#leased(create)
    const result = await store.create(leased)
    const isFailed = result.kind === 'exists' && ['failed', 'cancelled'].includes(result.stored.task.status)
    // The lease is still that of the first task; which one comes after it is decided by the store.
    return isFailed && leased !== create && create.resubmitAfterFailure === true ? store.create(create) : result
  }

  /** Under the id of the task that the queue has given the key to. */
  async #leased(create: CreateTask): Promise<CreateTask> {
    const { adapter } = this.parts
    const { id: taskId, type, idempotencyKey: key } = create
    if (key === undefined || adapter.acquireIdempotencyLease === undefined) return create
    return { ...create, id: await adapter.acquireIdempotencyLease({ type, key, taskId }) }
  }

  async #settle(create: CreateTask, result: CreateResult): Promise<SubmittedTask> {
    if (result.kind === 'refused') throw refusalOf(result)
    // A random id that exists already is our own: the first answer got lost and the step was taken again.
    if (result.kind === 'exists') return presentTask(result.stored)
    const task = this.#created(create, result)
    if (this.parts.joint === undefined && task.status === 'pending') {
      await this.parts.dispatcher.dispatch(task, 0, create.notBefore)
    }
    return task
  }

  /** Tells of a task that is there now. */
  #created(create: CreateTask, { taskId, at, parentType }: CreateResult & { kind: 'created' }): Task {
    const task = taskFromCreate(taskId === create.id ? create : { ...create, id: taskId }, at)
    if (parentType !== undefined) this.parts.updates.spawnedChild(parentType, create.parentTaskId ?? '', taskId, at)
    this.#announce(task, at, create.payloadJson)
    return presentTask({ task })
  }

  async #start(input: StartTask): Promise<StartResult> {
    const { joint, store, dispatcher } = this.parts
    const result = joint === undefined ? await store.start(input) : await joint.start(input)
    if (result.kind === 'refused') return result
    const { task } = result.stored
    this.#announce(task, result.at, input.payload === undefined ? undefined : input.payload.json)
    if (joint === undefined) await dispatcher.dispatch(task, 0, dueAfter(result.at, task))
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

/** @throws {IdempotencyConflictError} if the key belongs to another payload */
const assertSamePayload = ({ payloadJson, idempotencyKey = '' }: CreateTask, { task }: StoredTask): void => {
  const own: unknown = payloadJson === undefined ? undefined : JSON.parse(payloadJson)
  if (canonicalJson(task.payload) === canonicalJson(own)) return
  throw new IdempotencyConflictError(task.type, keyOfScope(idempotencyKey), task.id)
}
