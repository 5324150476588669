/** A promise and its ends. */
export interface PromiseWithReject {
  promise: Promise<void>
  resolve: () => void
  reject: (error: Error) => void
}

/** Makes a promise whose rejection is not unhandled if nobody waits for it. */
export const promiseWithReject = (): PromiseWithReject => {
  let settle: Pick<PromiseWithReject, 'resolve' | 'reject'> | undefined
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject }
  })
  promise.catch(() => undefined) // whoever waits has a handler of their own
  return { promise, ...(settle as unknown as Pick<PromiseWithReject, 'resolve' | 'reject'>) }
}
