import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { printable, quoted } from '../../src/argument/printable.js'

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.nat({ max: 0xffff }), { maxLength: 300 }).map((units) => String.fromCharCode(...units)),
)

describe('printable', () => {
  it('shows text on one line, without what a terminal acts upon', () => {
    expect(printable('a\r\n\tb\u001b[2J\u202e\u0000\ud800')).toBe('a\\r\\n\\tb\\u{001b}[2J\\u{202e}\\u{0000}\\u{d800}')
    expect(printable('ä€😀 und Luft')).toBe('ä€😀 und Luft')
  })

  it('is bounded, and never holds an unprintable character, whatever it is given', () => {
    fc.assert(
      fc.property(anyText, fc.nat({ max: 400 }), (text, maxLength) => {
        const shown = printable(text, maxLength)
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/u)
        expect(shown.length).toBeLessThanOrEqual(10 * maxLength + 1)
      }),
    )
  })
})

describe('quoted', () => {
  it('can be told from the text around it', () => {
    expect(quoted('a" or "b\\')).toBe('"a\\" or \\"b\\\\"')
    fc.assert(
      fc.property(anyText, (text) => {
        expect(quoted(text, 1_000).slice(1, -1)).not.toMatch(/(?<!\\)(?:\\\\)*"/)
      }),
    )
  })

  it('cuts what is too long', () => {
    expect(quoted('x'.repeat(10_000))).toBe(`"${'x'.repeat(80)}…"`)
  })
})
