import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

import ts from 'typescript'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Something that can be imported from one of the packages of this repository. */
export interface PublicExport {
  /** From the root of the repository, such as `src/keys/lane.ts:12`. */
  readonly where: string
  readonly name: string
  /** By which the package that it comes from is imported. */
  readonly specifier: string
  readonly declarations: readonly ts.Declaration[]
}

/** The exports of all entries, each where it is declared; what one package passes on from another is told once. */
export interface PublicSurface {
  readonly program: ts.Program
  readonly exports: readonly PublicExport[]
}

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>
}

const folders = ['.', ...readdirSync(join(root, 'packages')).map((name) => join('packages', name))]

/** The sources of what can be imported, by the name under which it is. */
export const packageEntries = folders.flatMap((folder) => {
  const { name, exports } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
  return Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [
          {
            specifier: name + path.slice(1),
            folder: join(root, folder, 'src'),
            file: join(root, folder, target.types.replace('dist', 'src').replace('.d.ts', '.ts')),
          },
        ],
  )
})

/** The compiler options of the repository, with which nothing is written. */
export const compilerOptions = (more: ts.CompilerOptions = {}): ts.CompilerOptions => {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8')) as {
    config: object
  }
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  return { ...options, noEmit: true, composite: false, skipLibCheck: true, ...more }
}

/** Reads the sources of all packages. */
export const readPublicSurface = (): PublicSurface => {
  const program = ts.createProgram(
    packageEntries.map(({ file }) => file),
    compilerOptions(),
  )
  const checker = program.getTypeChecker()
  const exports = packageEntries.flatMap(({ specifier, folder, file }) => {
    const source = program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (module === undefined) throw new Error(`${file} exports nothing`)
    return checker.getExportsOfModule(module).flatMap((exported): PublicExport[] => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
      const declarations = (symbol.declarations ?? []).filter((one) => one.getSourceFile().fileName.startsWith(folder))
      const [first] = declarations
      return first ? [{ specifier, name: exported.name, where: whereIs(first), declarations }] : []
    })
  })
  return { program, exports: [...new Map(exports.map((one) => [`${one.where} ${one.name}`, one])).values()] }
}

/** Such as `src/keys/lane.ts:12`. */
export const whereIs = (node: ts.Node): string => {
  const source = node.getSourceFile()
  const { line } = source.getLineAndCharacterOfPosition(node.getStart())
  return `${relative(root, source.fileName)}:${line + 1}`
}

/** The statement that carries the docstring of a declaration. */
export const statementOf = (declaration: ts.Declaration): ts.Node =>
  ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration

/** The texts of a node's `@example`s. */
export const examplesOf = (node: ts.Node): string[] =>
  ts
    .getJSDocTags(node)
    .filter(({ tagName }) => tagName.text === 'example')
    .map(({ comment }) => (ts.getTextOfJSDocComment(comment) ?? '').replace(/^```ts\n([^]*)\n```$/, '$1'))

/** What a user sees of a type: its members, and those of the object types that it is written with. */
export const membersOf = (declaration: ts.Declaration): ts.NamedDeclaration[] => {
  if (ts.isClassDeclaration(declaration)) return declaration.members.flatMap(publicMembersOf)
  if (ts.isInterfaceDeclaration(declaration)) return [...declaration.members]
  if (ts.isTypeAliasDeclaration(declaration)) return membersWithin(declaration.type)
  return []
}

const publicMembersOf = (member: ts.ClassElement): ts.NamedDeclaration[] => {
  if (ts.isConstructorDeclaration(member))
    return member.parameters.filter((parameter) => isPublic(parameter) && (parameter.modifiers?.length ?? 0) > 0)
  if (ts.isClassStaticBlockDeclaration(member) || !member.name || ts.isPrivateIdentifier(member.name)) return []
  return isPublic(member) ? [member] : []
}

const isPublic = (declaration: ts.Declaration): boolean =>
  !(ts.getCombinedModifierFlags(declaration) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected))

const membersWithin = (type: ts.TypeNode): ts.NamedDeclaration[] => {
  if (ts.isTypeLiteralNode(type)) return [...type.members]
  if (ts.isIntersectionTypeNode(type)) return type.types.flatMap(membersWithin)
  if (ts.isParenthesizedTypeNode(type)) return membersWithin(type.type)
  return []
}
