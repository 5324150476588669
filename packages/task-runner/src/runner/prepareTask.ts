import { randomUUID } from 'node:crypto'

import { checkBlobRefs } from '../argument/checkBlobRef.js'
import { checkDate } from '../argument/checkDate.js'
import { checkObject } from '../argument/checkObject.js'
import { checkRetentionPolicy } from '../argument/checkRetentionPolicy.js'
import { checkTags } from '../argument/checkTags.js'
import { checkTaskId } from '../argument/checkTaskId.js'
import { checkText } from '../argument/checkText.js'
import { checkType } from '../argument/checkType.js'
import { checkVersion } from '../argument/checkVersion.js'
import { quoted } from '../argument/printable.js'
import { messageOf } from '../errors/messageOf.js'
import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { PayloadError } from '../errors/payloadError.js'
import { UnsupportedDelayError } from '../errors/unsupportedDelayError.js'
import { encodeJson } from '../json/encodeJson.js'
import { DEFAULT_KEY_TTL_MS, type CreateTask } from '../store/createTask.js'
import { DEFAULT_RETENTION_POLICY, type TaskRetentionPolicy } from '../task/taskRetentionPolicy.js'
import type { HandlerRegistry } from './handlerRegistry.js'
import { scopedKey } from './idempotencyScope.js'
import type { SubmitOptions } from './submitOptions.js'

/** They are part of the name of a lane, which must not grow without bound. */
const MAX_TAGS = 64
/** All of them are written in the step that creates the task. */
const MAX_BLOBS = 1_000

/** What a submission is checked against. */
export interface PrepareTaskContext {
  readonly registry: HandlerRegistry
  readonly canDelay: boolean
  readonly maxPayloadBytes: number
  /** How long an idempotency key is held in any case. @default a day */
  readonly keyTtlMs?: number
}

/** Checks what was submitted and makes a row of it. Throws before anything has been written. */
export const prepareTask = <P>(
  options: SubmitOptions<P>,
  status: CreateTask['status'],
  context: PrepareTaskContext,
): CreateTask => {
  const type = checkType('type', checkObject('options', options).type)
  const handlerVersion = checkVersion('handlerVersion', options.handlerVersion)
  const { notBefore, startBefore, idempotencyKey, parentTaskId, submittedBy } = options
  const create: CreateTask = {
    id: randomUUID(),
    type,
    handlerVersion,
    status,
    tags: checkTags('tags', options.tags, MAX_TAGS),
    retentionPolicy: retentionPolicyOf(options, context.registry),
  }
  if (Object.values(options.retentionPolicy ?? {}).some((member) => member !== undefined)) create.isPolicyGiven = true
  if (notBefore !== undefined) {
    create.notBefore = checkDate('notBefore', notBefore)
    if (!context.canDelay) throw new UnsupportedDelayError()
  }
  if (startBefore !== undefined) create.startBefore = checkStartBefore(startBefore, create.notBefore)
  if (parentTaskId !== undefined) create.parentTaskId = checkTaskId('parentTaskId', parentTaskId)
  if (options.consumedBlobs !== undefined) {
    create.consumedBlobs = checkBlobRefs('consumedBlobs', options.consumedBlobs, MAX_BLOBS)
  }
  if (submittedBy !== undefined) create.submittedBy = checkText('submittedBy', submittedBy, 1024)
  if (idempotencyKey !== undefined) {
    create.idempotencyKey = scopedKey(checkText('idempotencyKey', idempotencyKey, 1024), submittedBy)
    create.keyTtlMs = context.keyTtlMs ?? DEFAULT_KEY_TTL_MS
    create.resubmitAfterFailure = options.resubmitAfterFailure === true
  }
  const payloadJson = encodePayload(() => `a task of type ${quoted(type)}`, options.payload, context.maxPayloadBytes)
  if (payloadJson !== undefined) create.payloadJson = payloadJson
  return create
}

/** The JSON text of a payload; a `PayloadError` if there is none. `subject` is asked for only then. */
export const encodePayload = (subject: () => string, payload: unknown, maxBytes: number): string | undefined => {
  try {
    return encodeJson(payload, maxBytes)
  } catch (error) {
    throw new PayloadError(subject(), messageOf(error), { cause: error })
  }
}

const checkStartBefore = (startBefore: unknown, notBefore = -Infinity): number => {
  const time = checkDate('startBefore', startBefore)
  if (time <= notBefore) throw new InvalidArgumentError('startBefore', startBefore, 'later than notBefore')
  return time
}

const retentionPolicyOf = <P>(
  { type, handlerVersion, retentionPolicy }: SubmitOptions<P>,
  registry: HandlerRegistry,
): TaskRetentionPolicy => {
  const byHandler = registry.find(type, handlerVersion)?.retentionPolicy ?? DEFAULT_RETENTION_POLICY
  return checkRetentionPolicy(retentionPolicy, byHandler)
}
