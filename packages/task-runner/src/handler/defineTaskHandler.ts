import { checkFunction } from '../argument/checkFunction.js'
import { checkMaxDeliveries } from '../argument/checkMaxDeliveries.js'
import { checkNumber } from '../argument/checkNumber.js'
import { checkObject } from '../argument/checkObject.js'
import { checkRetentionPolicy } from '../argument/checkRetentionPolicy.js'
import { checkRetryPolicy } from '../argument/checkRetryPolicy.js'
import { checkType } from '../argument/checkType.js'
import { checkVersion } from '../argument/checkVersion.js'
import { DEFAULT_RETENTION_POLICY } from '../task/taskRetentionPolicy.js'
import { MAX_DELAY_MS } from '../time/maxDelayMs.js'
import type { DefineTaskHandlerOptions } from './defineTaskHandlerOptions.js'
import { DEFAULT_RETRY_POLICY } from './retryPolicy.js'
import type { TaskHandlerDescriptor } from './taskHandlerDescriptor.js'

/**
 * Describes the handler of one version of one type of tasks: fills in the defaults and checks the rest. Throws an
 * `InvalidArgumentError` for an option that cannot be.
 *
 * @example
 * const sendMail = defineTaskHandler({
 *   type: 'send-mail',
 *   version: 1,
 *   retryPolicy: { maxAttempts: 5, backoff: 'exponential', baseDelayMs: 1_000, jitter: 0.2 },
 *   handler: async (ctx, { to }: { to: string }) => {
 *     const response = await ctx.fetch('https://mail.example.org', { method: 'POST', body: to })
 *     return { sent: response.ok }
 *   },
 * })
 */
export const defineTaskHandler = <P, R>(options: DefineTaskHandlerOptions<P, R>): TaskHandlerDescriptor<P, R> => {
  checkObject('options', options)
  const { visibilityTimeoutMs = 60_000, progressThrottleMs = 250, attemptTimeoutMs, maxDeliveries } = options
  return Object.freeze({
    type: checkType('type', options.type),
    version: checkVersion('version', options.version),
    handler: checkFunction('handler', options.handler),
    retryPolicy: Object.freeze(checkRetryPolicy({ ...DEFAULT_RETRY_POLICY, ...options.retryPolicy })),
    retentionPolicy: Object.freeze(checkRetentionPolicy(options.retentionPolicy, DEFAULT_RETENTION_POLICY)),
    cancelOnDrain: options.cancelOnDrain ?? false,
    visibilityTimeoutMs: checkNumber('visibilityTimeoutMs', visibilityTimeoutMs, {
      min: 1,
      max: MAX_DELAY_MS,
      integer: true,
    }),
    ...(options.visibilityTimeoutMs !== undefined && { declaresVisibility: true }),
    progressThrottleMs: checkNumber('progressThrottleMs', progressThrottleMs, { min: 0, infinity: 'first and last' }),
    ...(attemptTimeoutMs !== undefined && {
      attemptTimeoutMs: checkNumber('attemptTimeoutMs', attemptTimeoutMs, { min: 1, infinity: 'no limit' }),
    }),
    ...(maxDeliveries !== undefined && { maxDeliveries: checkMaxDeliveries(maxDeliveries) }),
  })
}
