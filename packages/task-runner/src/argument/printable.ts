/** Control, format and separator characters, and halves of surrogate pairs: what could forge a line of a log or hide. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const escape = (character: string): string =>
  SHORT[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`

const clip = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}…` : text

/**
 * Text that came from somewhere else, as an error message may show it: on one line, without characters that a terminal
 * would act upon, and no longer than `maxLength` UTF-16 units before escaping.
 *
 * @example
 * printable('a\nb\u001b[2J') // 'a\\nb\\u{001b}[2J'
 */
export const printable = (text: string, maxLength = 200): string => clip(text, maxLength).replace(UNPRINTABLE, escape)

/**
 * The same between quotation marks, for a name or a value.
 *
 * @example
 * quoted('say "hi"') // '"say \\"hi\\""'
 */
export const quoted = (text: string, maxLength = 80): string =>
  `"${printable(clip(text, maxLength).replace(/["\\]/g, '\\$&'), 2 * maxLength + 1)}"`
