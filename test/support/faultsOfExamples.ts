import { dirname, join, relative } from 'node:path'

import ts from 'typescript'

import { compilerOptions, packageEntries } from './publicSurface.js'
import { type Example, sourceFiles } from './readExamples.js'

/**
 * Type-checks examples as files next to their sources, so that none needs to state what it is an example of: what a name
 * stands for that it does not bring along is looked up among the exports of its file, of its package, the `given`
 * variables, what the files of its package export to each other, and the exports of the other packages, in that order.
 *
 * @param given a source file whose exports examples may take for granted
 * @returns what is wrong, one line a fault
 */
export const faultsOfExamples = (examples: readonly Example[], given: string): string[] => {
  const importable = (importableBy[given] ??= importableNames(given))
  const files = new Map(
    examples.map((example, index) => {
      const path = join(dirname(example.file), `example-${index}.ts`)
      return [path, { example, text: withImports(example, importable) }]
    }),
  )
  const program = programOf([...files.keys()], new Map([...files].map(([path, { text }]) => [path, text])))
  return [...files].flatMap(([path, { example }]) => {
    const source = program.getSourceFile(path)
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText }) => `${example.where}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    )
  })
}

const options = compilerOptions({
  exactOptionalPropertyTypes: false,
  noUncheckedIndexedAccess: false,
  verbatimModuleSyntax: false,
  paths: Object.fromEntries(packageEntries.map(({ specifier, file }) => [specifier, [file]])),
})

/** What was read from the disk once: most of it is the same for every program. */
const sources = new Map<string, ts.SourceFile | undefined>()

const programOf = (roots: string[], virtual: ReadonlyMap<string, string> = new Map()): ts.Program => {
  const disk = ts.createCompilerHost(options)
  const readOnce = (...args: Parameters<typeof disk.getSourceFile>): ts.SourceFile | undefined => {
    const [path] = args
    if (!sources.has(path)) sources.set(path, disk.getSourceFile(...args))
    return sources.get(path)
  }
  return ts.createProgram(roots, options, {
    ...disk,
    fileExists: (path) => virtual.has(path) || disk.fileExists(path),
    readFile: (path) => virtual.get(path) ?? disk.readFile(path),
    getSourceFile: (path, version, ...rest) => {
      const text = virtual.get(path)
      return text === undefined ? readOnce(path, version, ...rest) : ts.createSourceFile(path, text, version)
    },
  })
}

/** From where each name may be imported, best last. */
type Importable = (file: string) => ReadonlyMap<string, string>

const importableBy: Record<string, Importable> = {}

const importableNames = (given: string): Importable => {
  const program = programOf([...sourceFiles(), given])
  const checker = program.getTypeChecker()
  const exportsOf = (file: string): string[] => {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    return module ? checker.getExportsOfModule(module).map(({ name }) => name) : []
  }
  const entries = packageEntries
    .toReversed()
    .map((entry) => ({ ...entry, names: exportsOf(entry.file).map((name) => [name, entry.specifier] as const) }))
  const internal = sourceFiles().flatMap((from) => exportsOf(from).map((name) => [name, from] as const))
  const isInSamePackage = (one: string, other: string): boolean =>
    packageEntries.some(({ folder }) => [one, other].every((file) => file.startsWith(`${folder}/`)))
  const givenNames = exportsOf(given).map((name) => [name, given] as const)
  return (file) =>
    new Map([
      ...entries.flatMap(({ names }) => names),
      ...internal.filter(([, from]) => isInSamePackage(from, file)),
      ...givenNames,
      ...entries.filter(({ folder }) => file.startsWith(`${folder}/`)).flatMap(({ names }) => names),
      ...exportsOf(file).map((name) => [name, file] as const),
    ])
}

/** The example as a module, with an import of each name that it uses and does not bring along. */
const withImports = ({ file, code }: Example, importable: Importable): string => {
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true)
  const used = new Set<string>()
  const brought = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const { parent } = node
      const isDeclared =
        (ts.isVariableDeclaration(parent) ||
          ts.isBindingElement(parent) ||
          ts.isParameter(parent) ||
          ts.isFunctionDeclaration(parent) ||
          ts.isClassDeclaration(parent) ||
          ts.isInterfaceDeclaration(parent) ||
          ts.isTypeAliasDeclaration(parent) ||
          ts.isImportClause(parent) ||
          ts.isImportSpecifier(parent) ||
          ts.isNamespaceImport(parent)) &&
        parent.name === node
      if (isDeclared) brought.add(node.text)
      else if (!isMemberName(node)) used.add(node.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  const names = importable(file)
  const imports = [...used]
    .filter((name) => !brought.has(name) && names.has(name))
    .map((name) => {
      const from = names.get(name) ?? ''
      return `import { ${name} } from '${from.endsWith('.ts') ? specifierOf(file, from) : from}'`
    })
  // In a function, so that it may return.
  const [own, rest] = [true, false].map((isImport) =>
    source.statements
      .filter((statement) => ts.isImportDeclaration(statement) === isImport)
      .map((statement) => statement.getFullText(source))
      .join('\n'),
  )
  return `${imports.join('\n')}\n${own}\nexport async function example() {\n${rest}\n}\n`
}

const isMemberName = (node: ts.Identifier): boolean => {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node
  if (ts.isQualifiedName(parent)) return parent.right === node
  if (ts.isBindingElement(parent)) return parent.propertyName === node
  return ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent) || ts.isPropertySignature(parent)
    ? parent.name === node
    : false
}

const specifierOf = (from: string, to: string): string => {
  const path = relative(dirname(from), to).replace(/\.ts$/, '.js')
  return path.startsWith('.') ? path : `./${path}`
}
