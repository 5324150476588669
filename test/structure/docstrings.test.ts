import ts from 'typescript'
import { describe, expect, it } from 'vitest'

import { examplesOf, membersOf, readPublicSurface, statementOf, whereIs } from '../support/publicSurface.js'

const { program, exports } = readPublicSurface()
const checker = program.getTypeChecker()

const hasDocstring = (node: ts.Node): boolean =>
  ts.getJSDocCommentsAndTags(node).some((part) => {
    const text = ts.isJSDoc(part) ? ts.getTextOfJSDocComment(part.comment) : undefined
    return text !== undefined && text.trim() !== ''
  })

/** Editors show the docstring of what a member implements or overrides, if it has none of its own. */
const isDescribed = (member: ts.NamedDeclaration): boolean => {
  if (hasDocstring(member)) return true
  const symbol = member.name && checker.getSymbolAtLocation(member.name)
  if (symbol && ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim() !== '') return true
  return isOfThePlatform(member)
}

/** `name` of an error means what it means in every error. */
const isOfThePlatform = (member: ts.NamedDeclaration): boolean =>
  ts.isPropertyDeclaration(member) && member.name.getText() === 'name' && ts.isClassDeclaration(member.parent)

describe('every export', () => {
  it('has a docstring', () => {
    const bare = exports.filter(({ declarations }) => !declarations.every((one) => hasDocstring(statementOf(one))))
    expect(bare.map(({ where, name }) => `${where} ${name}`)).toEqual([])
    expect(exports.length).toBeGreaterThan(150)
  })

  it('has one example', () => {
    const others = exports.filter(({ declarations }) =>
      declarations.some((one) => examplesOf(statementOf(one)).length !== 1),
    )
    expect(others.map(({ where, name }) => `${where} ${name}`)).toEqual([])
  })
})

describe('every member of an exported type', () => {
  it('has a docstring', () => {
    const members = exports.flatMap(({ name, declarations }) =>
      declarations.flatMap(membersOf).map((member) => ({ name, member })),
    )
    const bare = members.filter(({ member }) => !isDescribed(member))
    expect(bare.map(({ name, member }) => `${whereIs(member)} ${name}.${member.name?.getText() ?? ''}`)).toEqual([])
    expect(members.length).toBeGreaterThan(300)
  })
})
