/**
 * Whether an error is an answer of the server, rather than trouble with the connection. By the name of the class, because
 * two majors of the client may be loaded at once.
 *
 * @example
 * import { ErrorReply } from 'redis'
 * isErrorReply(new ErrorReply('LOADING Redis is loading the dataset in memory')) // true
 */
export const isErrorReply = (error: unknown): error is Error => hasClass(error, ['ErrorReply'])

/**
 * The first word of an error that the server answered with; `undefined` if the error is the connection's.
 *
 * @example
 * import { ErrorReply } from 'redis'
 * replyCode(new ErrorReply('MOVED 3999 127.0.0.1:6381')) // 'MOVED'
 */
export const replyCode = (error: unknown): string | undefined =>
  isErrorReply(error) ? error.message.split(' ', 1)[0] : undefined

/**
 * Whether a command certainly never left this process.
 *
 * @example
 * import { ClientOfflineError } from 'redis'
 * wasNotSent(new ClientOfflineError()) // true
 */
export const wasNotSent = (error: unknown): boolean => hasClass(error, ['ClientOfflineError', 'ClientClosedError'])

const ELSEWHERE: ReadonlySet<string | undefined> = new Set(['READONLY', 'MOVED', 'CLUSTERDOWN'])

/**
 * Whether an answer tells that the connection leads to the wrong server: to a former primary, or to a node that has the
 * slot no longer, or is cut off from its cluster.
 *
 * @example
 * leadsElsewhere('MOVED') // true
 */
export const leadsElsewhere = (code: string | undefined): boolean => ELSEWHERE.has(code)

const hasClass = (error: unknown, names: readonly string[]): boolean => {
  for (let proto: unknown = error; proto instanceof Error; proto = Object.getPrototypeOf(proto))
    if (names.includes(proto.constructor.name)) return true
  return false
}
