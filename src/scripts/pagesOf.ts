/**
 * How much a page may hold.
 *
 * @example
 * const limit: PageLimit<string> = { items: 100, bytes: 1_048_576, bytesOf: (text) => Buffer.byteLength(text) }
 */
export interface PageLimit<T> {
  readonly items: number
  /** A single item may be larger: then it has a page to itself. */
  readonly bytes: number
  readonly bytesOf: (item: T) => number
}

/**
 * Cuts a list into pages, in its order, each as long as its limit allows; there is none of an empty list.
 *
 * @example
 * pagesOf(['a', 'bc', 'def'], { items: 10, bytes: 3, bytesOf: (text) => text.length }) // [['a', 'bc'], ['def']]
 */
export const pagesOf = <T>(list: readonly T[], { items, bytes, bytesOf }: PageLimit<T>): T[][] => {
  const pages: T[][] = []
  let page: T[] = []
  let held = 0
  for (const item of list) {
    const more = bytesOf(item)
    if (pages.length === 0 || page.length === items || held + more > bytes) {
      page = []
      pages.push(page)
      held = 0
    }
    page.push(item)
    held += more
  }
  return pages
}
