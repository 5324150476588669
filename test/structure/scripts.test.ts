import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'
import { describe, expect, it } from 'vitest'

/** Where scripts for the server are written. */
const root = fileURLToPath(new URL('../..', import.meta.url))
const folders = ['src', 'packages/redis-cross-node-bus/src']

const sources = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => {
      const text = readFileSync(join(root, folder, file), 'utf8')
      return ts.createSourceFile(join(folder, file), text, ts.ScriptTarget.Latest, true)
    }),
)

const nodesOf = <T extends ts.Node>(is: (node: ts.Node) => node is T): T[] => {
  const found: T[] = []
  const visit = (node: ts.Node): void => {
    if (is(node)) found.push(node)
    ts.forEachChild(node, visit)
  }
  for (const source of sources) visit(source)
  return found
}

/** Constants by name, with what they are. */
const constants = new Map(
  nodesOf(ts.isVariableDeclaration).flatMap((declaration) =>
    ts.isIdentifier(declaration.name) && declaration.initializer && ts.isSourceFile(declaration.parent.parent.parent)
      ? [[declaration.name.text, declaration.initializer] as const]
      : [],
  ),
)

/** Names of what a module takes out of something once, when it is loaded: as fixed as a constant, and a number here. */
const takenOnce = new Set(
  nodesOf(ts.isVariableDeclaration).flatMap((declaration) =>
    ts.isArrayBindingPattern(declaration.name) && ts.isSourceFile(declaration.parent.parent.parent)
      ? declaration.name.elements.flatMap((element) =>
          ts.isBindingElement(element) && ts.isIdentifier(element.name) ? [element.name.text] : [],
        )
      : [],
  ),
)

/** The `x` of `String(x)`. */
const shown = (node: ts.Expression): ts.Expression | undefined =>
  ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'String'
    ? node.arguments[0]
    : undefined

/** Text that is the same in each run: literals, and constants made of literals. */
const isFixed = (node: ts.Expression): boolean => {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isNumericLiteral(node)) return true
  const within = shown(node)
  if (within) return isFixed(within)
  if (ts.isBinaryExpression(node)) return isFixed(node.left) && isFixed(node.right)
  if (ts.isTemplateExpression(node)) return node.templateSpans.every(({ expression }) => isFixed(expression))
  if (!ts.isIdentifier(node)) return false
  const constant = constants.get(node.text)
  if (constant === undefined && takenOnce.has(node.text)) return true
  return constant !== undefined && isFixed(constant)
}

const textOf = (node: ts.Expression): string => {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isNumericLiteral(node))
    return node.text
  const within = shown(node)
  if (within) return textOf(within)
  if (ts.isIdentifier(node) && !constants.has(node.text) && takenOnce.has(node.text)) return '0'
  if (ts.isBinaryExpression(node)) return textOf(node.left) + textOf(node.right)
  if (ts.isTemplateExpression(node))
    return node.templateSpans.reduce(
      (text, { expression, literal }) => text + textOf(expression) + literal.text,
      node.head.text,
    )
  return textOf(constants.get((node as ts.Identifier).text) as ts.Expression)
}

const defined = nodesOf(ts.isCallExpression).filter(
  ({ expression }) => ts.isIdentifier(expression) && expression.text === 'defineScript',
)
/** `send(['EVAL', SCRIPT, …])`, as the bus does it. */
const evaluated = nodesOf(ts.isArrayLiteralExpression).filter(({ elements }) =>
  elements.some((element) => ts.isStringLiteral(element) && /^(?:EVAL|FCALL|SCRIPT)/.test(element.text)),
)
const ownRunner = (node: ts.Node): boolean => node.getSourceFile().fileName === join('src', 'scripts', 'runScript.ts')

describe('the scripts', () => {
  it('are the same text whatever they work on: data go in as arguments only', () => {
    expect(defined.length).toBeGreaterThan(15)
    for (const { arguments: given } of defined) {
      const [name, text] = given as unknown as [ts.StringLiteral, ts.Expression]
      expect([name.text, isFixed(text)]).toEqual([name.text, true])
    }
    const elsewhere = evaluated.filter((node) => !ownRunner(node))
    expect(elsewhere.length).toBeGreaterThan(0)
    for (const { elements } of elsewhere) expect(isFixed(elements[1] as ts.Expression)).toBe(true)
  })

  it('have a name each', () => {
    const names = defined.map(({ arguments: [name] }) => (name as ts.StringLiteral).text)
    expect([...new Set(names)]).toEqual(names)
  })

  it('use nothing that runs text, waits, changes the server, or looks through all keys', () => {
    const texts = [
      ...defined.map(({ arguments: [, text] }) => textOf(text as ts.Expression)),
      ...evaluated.filter((node) => !ownRunner(node)).map(({ elements }) => textOf(elements[1] as ts.Expression)),
    ]
    for (const text of texts) {
      expect(text).not.toMatch(/\b(?:loadstring|load|dofile|require|setfenv)\s*\(/)
      expect(text).not.toMatch(/'(?:KEYS|SCAN|HSCAN|SSCAN|ZSCAN|FLUSH\w*|CONFIG|MONITOR|DEBUG|SCRIPT|EVAL\w*)'/i)
      expect(text).not.toMatch(/'(?:BLOCK|BLPOP|BZPOPMIN|WAIT)'/i)
    }
  })
})

describe('commands that the library sends by itself', () => {
  it('are none that managed servers refuse', () => {
    const first = nodesOf(ts.isArrayLiteralExpression)
      .map(({ elements: [element] }) => (element && ts.isStringLiteral(element) ? element.text : ''))
      .filter((text) => /^[A-Z]{3,}$/.test(text))
    expect(first).toContain('EVALSHA')
    expect(first.filter((name) => /^(?:KEYS|SCAN|FLUSH.*|CONFIG|MONITOR|DEBUG|SHUTDOWN|SAVE)$/.test(name))).toEqual([])
  })
})
