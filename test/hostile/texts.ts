import fc from 'fast-check'

/** Texts that mean something to somebody on their way: to keys, lanes, JSON, Lua, terminals, objects. */
export const WELL_FORMED = [
  'a',
  'a:v1',
  'a:v1:v1',
  'a:v1:tags=b',
  ':v1',
  ':tags=',
  ':',
  'a:children',
  ':steps',
  '{a}',
  '{',
  '}',
  ' ',
  'a b',
  '%',
  '%3A',
  'a%3Av1',
  '|',
  ',',
  '*',
  '"',
  '\\',
  "'",
  ']]',
  '{"taskId":"a"}',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'NaN',
  '0',
  '-1',
  '\n',
  '\r\n',
  '\t',
  '\u0001',
  '\u001b[2J',
  '\u007f',
  '\u0085',
  '\u2028',
  '\u202e',
  'é',
  'e\u0301',
  '😀',
  '\ufffd',
  '\uffff',
  'x'.repeat(512),
]

/** What no name may be. */
export const ILL_FORMED: unknown[] = [
  '',
  '\ud800',
  'a\udc00b',
  'a\0b',
  '\0',
  'x'.repeat(10_000),
  7,
  Number.NaN,
  null,
  {},
  ['a'],
  Symbol('a'),
  10n,
  () => 'a',
  new Proxy(
    {},
    {
      get: () => {
        throw new Error('not to be looked at')
      },
    },
  ),
]

/** Well-formed texts, free of NUL, of 1 to 512 characters. */
export const names = fc
  .oneof(
    fc.constantFrom(...WELL_FORMED),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
    fc.tuple(fc.constantFrom(...WELL_FORMED), fc.constantFrom(...WELL_FORMED)).map(([a, b]) => `${a}${b}`),
  )
  .map((text) => text.slice(0, 512))
  .filter((text) => text.isWellFormed() && text !== '' && !text.includes('\0'))
