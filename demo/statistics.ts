/** The value that a share of the values (0 to 1) do not exceed; `undefined` if there are none. */
export const percentile = (values: readonly number[], share: number): number | undefined =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)]

/** The largest number of intervals that overlap. One that ends as another begins does not overlap it. */
export const mostAtOnce = (intervals: readonly (readonly [from: number, to: number])[]): number => {
  const steps = intervals.flatMap(([from, to]) => [
    { at: from, step: 1 },
    { at: to, step: -1 },
  ])
  let now = 0
  let most = 0
  for (const { step } of steps.sort((a, b) => a.at - b.at || a.step - b.step)) {
    now += step
    most = Math.max(most, now)
  }
  return most
}
