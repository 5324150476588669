/** Lists of what has the same key, in the order they came. `Map.groupBy` is not in every Node that this runs on. */
export const groupBy = <T, K>(list: readonly T[], keyOf: (item: T) => K): Map<K, T[]> => {
  const groups = new Map<K, T[]>()
  for (const item of list) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
