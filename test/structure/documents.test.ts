import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

// The formatter takes what a merge left in a document for text, and makes it harder to see.
it('documents hold nothing that a merge has left', () => {
  const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
  expect(documents).toContain('CHANGELOG.md')
  const left = documents.filter((file) => /<{7} |^[ \\]*={7}$|>( ?>){6} /m.test(readFileSync(join(root, file), 'utf8')))
  expect(left).toEqual([])
})
