/**
 * Tells whether a worker offers every tag that a task asks for. An untagged task fits every worker.
 *
 * @example
 * workerSatisfiesTags(['gpu', 'eu'], ['gpu']) // true
 * workerSatisfiesTags([], ['gpu']) // false
 */
export const workerSatisfiesTags = (workerTags: readonly string[], taskTags: readonly string[]): boolean =>
  taskTags.every((tag) => workerTags.includes(tag))
