import { readFileSync } from 'node:fs'

/**
 * The words of the rule for a user of Redis in a document, `ACL SETUSER tasks on …`.
 *
 * @param file from the root of the repository
 */
export const documentedRuleOf = (file: string): string[] => {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const [, rule = ''] = /^<!-- acl:.*-->\n\n```\n([^]*?)^```$/m.exec(text) ?? []
  return rule.trim().split(/\s+/)
}

/** The commands that a rule permits. */
export const commandsIn = (rule: readonly string[]): string[] =>
  rule.filter((word) => word.startsWith('+')).map((word) => word.slice(1))
