/** Waits for `work` at most `ms` milliseconds and as long as nobody ends the demo; rejects after either. */
export const within = async <T>(
  work: Promise<T>,
  { ms, what, signal }: { ms: number; what: string; signal?: AbortSignal },
): Promise<T> => {
  signal?.throwIfAborted()
  let onAbort: (() => void) | undefined
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms / 1000} s`)), ms)
    onAbort = () => reject(signal?.reason as Error)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
    if (onAbort) signal?.removeEventListener('abort', onAbort)
  }
}
