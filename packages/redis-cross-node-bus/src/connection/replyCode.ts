/**
 * The first word of an error that Redis answered with, such as `LOADING`; `undefined` if the error is the connection's.
 * By the name of the class, because two majors of the client may be loaded at once.
 */
export function replyCode(error: unknown): string | undefined {
  if (!hasClass(error, ['ErrorReply'])) return undefined
  return (error as Error).message.split(' ', 1)[0]
}

/** Whether a command certainly never left this process. */
export function wasNotSent(error: unknown): boolean {
  return hasClass(error, ['ClientOfflineError', 'ClientClosedError'])
}

/** Whether an answer means "not now": the server is starting, failing over or busy, and has done nothing. */
export function isTransient(code: string | undefined): boolean {
  return code !== undefined && TRANSIENT.has(code)
}

const TRANSIENT = new Set(['LOADING', 'READONLY', 'MASTERDOWN', 'CLUSTERDOWN', 'TRYAGAIN', 'BUSY'])

function hasClass(error: unknown, names: readonly string[]): boolean {
  for (let proto: unknown = error; proto instanceof Error; proto = Object.getPrototypeOf(proto)) {
    if (names.includes(proto.constructor.name)) return true
  }
  return false
}
