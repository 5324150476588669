/** What a name may contain that a line of a terminal may not. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Makes one line of any text: what would move the cursor or turn the direction is written as an escape. */
export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (one) => ESCAPES[one] ?? `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u
const ASCII = /^[\x20-\x7E]*$/

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const widthOfOne = (grapheme: string): number => (ZERO_WIDTH.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1)

/** How many columns of a terminal a text takes. */
export const widthOf = (text: string): number =>
  ASCII.test(text)
    ? text.length
    : [...graphemes.segment(text)].reduce((width, { segment }) => width + widthOfOne(segment), 0)

const take = (parts: readonly string[], width: number): string[] => {
  const taken: string[] = []
  let left = width
  for (const part of parts) {
    left -= widthOfOne(part)
    if (left < 0) break
    taken.push(part)
  }
  return taken
}

const partsOf = (text: string): string[] => [...graphemes.segment(text)].map(({ segment }) => segment)

/** Cuts the end off, if the text is too wide. */
export const clipEnd = (text: string, width: number, ellipsis: string): string =>
  widthOf(text) <= width
    ? text
    : `${take(partsOf(text), width - 1).join('')}${ellipsis}`.slice(0, width > 0 ? undefined : 0)

/** Cuts the beginning off: the end of a path tells more. */
export const clipStart = (text: string, width: number, ellipsis: string): string =>
  widthOf(text) <= width
    ? text
    : `${ellipsis}${take(partsOf(text).reverse(), width - 1)
        .reverse()
        .join('')}`.slice(0, width > 0 ? undefined : 0)

/** Fills up with spaces on the right. */
export const padEnd = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))

/** Fills up with spaces on the left. */
export const padStart = (text: string, width: number): string => ' '.repeat(Math.max(0, width - widthOf(text))) + text
