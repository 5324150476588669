import { checkDate } from '../argument/checkDate.js'
import { checkFunction } from '../argument/checkFunction.js'
import { checkNumber } from '../argument/checkNumber.js'
import { checkObject } from '../argument/checkObject.js'
import { checkTags } from '../argument/checkTags.js'
import { checkTaskId } from '../argument/checkTaskId.js'
import { checkText } from '../argument/checkText.js'
import { checkType } from '../argument/checkType.js'
import { checkVersion } from '../argument/checkVersion.js'
import { quoted } from '../argument/printable.js'
import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { MAX_DELAY_MS } from '../time/maxDelayMs.js'
import type { EnqueueInput, IdempotencyLeaseInput, WorkerSubscription } from './queueAdapter.js'

/**
 * The checks that every adapter makes before anything is written, whatever core it serves: a name that changes on its
 * way through a broker would become somebody else's.
 *
 * - `enqueue` answers the input with its tags sorted and without doubles.
 * - Each throws an `InvalidArgumentError`: texts are non-empty, well-formed, free of NUL, and no longer than 512 UTF-16
 *   units (idempotency keys: 4,096, and NUL separates the parts of a scoped one).
 *
 * @example
 * const { taskId, type, tags } = checkQueueInput.enqueue({ taskId: 'a', type: 'send-mail', handlerVersion: 1 })
 */
export const checkQueueInput = {
  enqueue: (input: EnqueueInput): EnqueueInput & { tags: readonly string[] } => {
    const { taskId, type, handlerVersion, notBefore, tags } = checkObject('input', input)
    if (notBefore !== undefined) checkDate('notBefore', notBefore)
    return {
      taskId: checkTaskId('taskId', taskId),
      type: checkType('type', type),
      handlerVersion: checkVersion('handlerVersion', handlerVersion),
      tags: checkTags('tags', tags),
      ...(notBefore !== undefined && { notBefore }),
    }
  },

  lease: ({ type, key, taskId }: IdempotencyLeaseInput): void => {
    checkType('type', type)
    checkText('key', typeof key === 'string' ? key.replaceAll('\0', '/') : key, 4_096)
    checkTaskId('taskId', taskId)
  },

  subscribe: (subscription: WorkerSubscription): void => {
    const { workerId, concurrency, tags, types, compatibleVersions, visibilityTimeoutMs } = checkObject(
      'subscription',
      subscription,
    )
    checkText('workerId', workerId, 512)
    checkNumber('concurrency', concurrency, { min: 1, integer: true })
    checkTags('tags', tags)
    if (!Array.isArray(types)) throw new InvalidArgumentError('types', types, 'an array of types')
    Array.from(types, (type: unknown, index) => checkType(`types[${index}]`, type))
    checkVersions(compatibleVersions)
    for (const [type, ms] of Object.entries(visibilityTimeoutMs ?? {})) {
      checkNumber(`visibilityTimeoutMs[${quoted(type)}]`, ms, { min: 1, max: MAX_DELAY_MS, integer: true })
    }
    const methods: { readonly onClaim: unknown; readonly shouldDrain: unknown } = subscription
    checkFunction('onClaim', methods.onClaim)
    checkFunction('shouldDrain', methods.shouldDrain)
  },
} as const

const checkVersions = (byType: unknown): void => {
  for (const [type, versions] of Object.entries(checkObject('compatibleVersions', byType as object))) {
    const property = `compatibleVersions[${quoted(type)}]`
    if (!Array.isArray(versions)) throw new InvalidArgumentError(property, versions, 'an array of versions')
    Array.from(versions, (version: unknown, index) => checkVersion(`${property}[${index}]`, version))
  }
}
