import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const text = readFileSync(join(root, 'docs/field-reports.md'), 'utf8')

/** `path`: "name of the test" */
const named = [...text.matchAll(/`([^`]+\.ts)`: "(.+?)"(?=<br>| )/g)].map(([, file = '', name = '']) => ({
  file,
  name,
}))

/** The names of the tests in a file, as they are written there. */
const testsIn = (file: string): Set<string> => {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(?:it|test)\b/.test(node.expression.getText())) {
      const [name] = node.arguments
      if (name !== undefined && ts.isStringLiteralLike(name)) names.add(name.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true))
  return names
}

describe('the field reports', () => {
  it('name tests that exist', () => {
    const files = new Map([...new Set(named.map(({ file }) => file))].map((file) => [file, testsIn(file)]))
    expect(named.length).toBeGreaterThan(184)
    expect(named.filter(({ file, name }) => files.get(file)?.has(name) !== true)).toEqual([])
  })

  it('answer every one of them, by a test or a reason', () => {
    const rows = [...text.matchAll(/^\| (\d+) +\| (.+)\|$/gm)].map(([, number, rest = '']) => ({
      number: Number(number),
      cells: rest.split(' | ').map((cell) => cell.trim()),
    }))
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 184 }, (_, index) => index + 1))
    for (const { number, cells } of rows) {
      expect([number, cells.length, cells.every((cell) => cell !== '')]).toEqual([number, 3, true])
      expect(cells[2]).toMatch(/^(?:`[^`]+\.ts`: "|Not (?:offered|applicable|supported|tested)\.)/)
    }
  })
})
