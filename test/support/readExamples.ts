import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'

import { examplesOf, whereIs } from './publicSurface.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** An `@example` of a docstring. */
export interface Example {
  /** Such as `src/keys/lane.ts:12`. */
  readonly where: string
  /** The source that it stands in. */
  readonly file: string
  readonly code: string
}

/** The sources of the product and its companions. */
export const sourceFiles = (): string[] =>
  ['src', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src`)].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(root, folder, file)),
  )

/** The examples of all docstrings, exported or not. */
export const readExamples = (): Example[] =>
  sourceFiles().flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
    const examples: Example[] = []
    const visit = (node: ts.Node): void => {
      // A declaration of a variable shows the docstring of its statement once more.
      if (!ts.isVariableDeclaration(node))
        for (const code of examplesOf(node)) examples.push({ where: whereIs(node), file, code })
      ts.forEachChild(node, visit)
    }
    visit(source)
    return examples
  })
