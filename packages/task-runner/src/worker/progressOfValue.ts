/** A report of progress, as `reportProgress` takes it. */
interface Progress {
  readonly percent: number
  readonly meta?: unknown
}

/**
 * What a value of an Observable handler says about its progress: the report that it is, or its own self as `meta` of one
 * that keeps the percentage so far.
 */
export const progressOfValue = (value: unknown, percentSoFar: number): Progress =>
  isProgress(value) ? value : { percent: percentSoFar, meta: value }

/** Nothing but `percent` and perhaps `meta`: a richer object is a value that happens to have a percentage. */
const isProgress = (value: unknown): value is Progress => {
  if (typeof value !== 'object' || value === null || !('percent' in value)) return false
  return Number.isFinite(value.percent) && Object.keys(value).every((key) => key === 'percent' || key === 'meta')
}
