/** Waits for a promise to be rejected and hands out the reason. */
export const reasonOf = async (promise: Promise<unknown>): Promise<unknown> => {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new Error(`Expected a rejection but got ${String(value)}`)
}
