import type { Route } from './route.js'

/** What there is to do for the routes. */
export type SortedRoutes = {
  /** To be read together with the state of their stream. */
  readonly behind: readonly Route[]
  readonly upToDate: readonly Route[]
  /** Some have entries that wait for their delivery; they are not read meanwhile. */
  readonly hasBacklog: boolean
  /** Some cannot be read at the moment. */
  readonly hasResting: boolean
}

export function sortRoutes(routes: Iterable<Route>, now: number): SortedRoutes {
  const behind: Route[] = []
  const upToDate: Route[] = []
  let hasBacklog = false
  let hasResting = false
  for (const route of routes) {
    if (route.cursor === undefined) continue
    if (route.backlog.length > 0) hasBacklog = true
    else if (route.restsUntil > now) hasResting = true
    else if (route.isBehind) behind.push(route)
    else upToDate.push(route)
  }
  return { behind, upToDate, hasBacklog, hasResting }
}
