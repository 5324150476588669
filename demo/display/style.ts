import type { WriteStream } from 'node:tty'

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const

/** How text is shown: colours, where they are wanted, and characters that the terminal is known to have. */
export type Style = Readonly<Record<keyof typeof CODES, (text: string) => string>> & {
  readonly full: string
  readonly empty: string
  readonly ellipsis: string
  readonly mark: string
}

/** No colours without a terminal, or where `NO_COLOR` asks for none. Blocks only where the locale has them. */
export const styleFor = (stdout: WriteStream, env: NodeJS.ProcessEnv = process.env): Style => {
  const isColoured = stdout.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const paint = (name: keyof typeof CODES): ((text: string) => string) => {
    const [on, off] = CODES[name]
    return isColoured ? (text) => `\x1b[${on}m${text}\x1b[${off}m` : (text) => text
  }
  const isUnicode = /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '')
  return {
    bold: paint('bold'),
    dim: paint('dim'),
    red: paint('red'),
    green: paint('green'),
    yellow: paint('yellow'),
    cyan: paint('cyan'),
    ...(isUnicode
      ? { full: '█', empty: '░', ellipsis: '…', mark: '▸' }
      : { full: '#', empty: '.', ellipsis: '~', mark: '>' }),
  }
}
