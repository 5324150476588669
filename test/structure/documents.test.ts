import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')
const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '')

/** What a heading can be reached by, as GitHub makes it. */
const anchorsOf = (file: string): Set<string> => {
  const anchors = new Set<string>()
  for (const [, heading = ''] of textOf(file)
    .replaceAll(/^```[^]*?^```$/gm, '')
    .matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-')
    let anchor = slug
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`
    anchors.add(anchor)
  }
  return anchors
}

/** Links that lead to something of this repository: from where, and to what. */
const links = documents.flatMap((from) =>
  [...withoutCode(textOf(from)).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)/gm)].flatMap(([, inline, reference]) => {
    const target = inline ?? reference ?? ''
    return /^[a-z]+:/.test(target) ? [] : [{ from, target }]
  }),
)

const isDead = ({ from, target }: { from: string; target: string }): boolean => {
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? from : join(dirname(from), decodeURIComponent(path))
  if (!existsSync(join(root, file))) return true
  return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).has(anchor)
}

it('every link between documents, and to sources, leads somewhere', () => {
  expect(links.filter(isDead)).toEqual([])
  expect(links.length).toBeGreaterThan(60)
})

it('the rows of a table have as many cells as its head', () => {
  const uneven = documents.flatMap((file) =>
    [...textOf(file).matchAll(/(?:^\|.*\|$\n?)+/gm)].flatMap(([table]) => {
      const widths = table
        .trim()
        .split('\n')
        .map((row) => row.replaceAll('\\|', '').split('|').length)
      return widths.every((width) => width === widths[0]) ? [] : [`${file}: ${table.slice(0, 80)}`]
    }),
  )
  expect(uneven).toEqual([])
})

// The formatter takes what a merge left in a document for text, and makes it harder to see.
it('documents hold nothing that a merge has left', () => {
  expect(documents).toContain('CHANGELOG.md')
  const left = documents.filter((file) => /<{7} |^[ \\]*={7}$|>( ?>){6} /m.test(textOf(file)))
  expect(left).toEqual([])
})
