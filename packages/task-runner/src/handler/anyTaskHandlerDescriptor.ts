import type { TaskHandlerDescriptor } from './taskHandlerDescriptor.js'

/**
 * A handler of whatever payload and result, for lists of handlers. Both parameters are `any` because the payload stands
 * in both directions (the handler takes it, its context shows it), so that neither `unknown` nor `never` accepts every
 * descriptor.
 *
 * @example
 * const handlers: AnyTaskHandlerDescriptor[] = [sendMail, crawl]
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
export type AnyTaskHandlerDescriptor = TaskHandlerDescriptor<any, any>
