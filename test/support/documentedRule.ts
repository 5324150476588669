import { readFileSync } from 'node:fs'

/**
 * The words of the rule for a user of Redis in a document, `ACL SETUSER tasks on …`, and of what the document adds to it.
 *
 * @param file from the root of the repository
 * @param additions the names of those that count, `<!-- acl of a cluster: … -->`
 */
export const documentedRuleOf = (file: string, ...additions: ReadonlyArray<'the bus' | 'a cluster'>): string[] => {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const blocks = Array.from(text.matchAll(/^<!-- acl(?: of ([^:]*))?:.*-->\n\n```\n([^]*?)^```$/gm))
  const wordsOf = (name: string | undefined): string[] => {
    const block = blocks.find(([, of]) => of === name)
    if (block === undefined) throw new Error(`${file} has no rule for a user of ${name ?? 'Redis'}`)
    return (block[2] ?? '').trim().split(/\s+/)
  }
  // `ACL SETUSER` adds to what a user may do already.
  return [...wordsOf(undefined), ...additions.flatMap((name) => wordsOf(name).slice(3))]
}

/** The commands that a rule permits. */
export const commandsIn = (rule: readonly string[]): string[] =>
  rule.filter((word) => word.startsWith('+')).map((word) => word.slice(1))
