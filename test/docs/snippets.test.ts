import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { redisUrl } from '../support/redis.js'

/**
 * Every `ts` block of the documents is compiled under plain `strict`; those of the README are run too. What a block takes
 * for granted stands in an HTML comment before it: `<!-- given: declare const user: string -->`.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))
const work = join(root, '.snippets')
const run = promisify(execFile)

const documents = [
  'README.md',
  ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`),
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`),
].filter((path) => path.endsWith('.md'))

const snippets = documents.flatMap((document) =>
  [...readFileSync(join(root, document), 'utf8').matchAll(/(?:^<!-- given:([^]*?)-->\n+)?^```ts\n([^]*?)^```$/gm)].map(
    (match, index) => ({
      document,
      name: `${document.replaceAll(/\W+/g, '-')}-${String(index + 1)}`,
      code: `${match[1] ?? ''}\n${match[2] ?? ''}`,
    }),
  ),
)

beforeAll(async () => {
  await mkdir(work, { recursive: true })
  for (const { name, code } of snippets) await writeFile(join(work, `${name}.ts`), `${code}\nexport {}\n`)
})
afterAll(() => rm(work, { recursive: true, force: true }))

const plainStrict: ts.CompilerOptions = {
  noEmit: true,
  composite: false,
  skipLibCheck: true,
  exactOptionalPropertyTypes: false,
  noUncheckedIndexedAccess: false,
}

describe('the snippets of the documents', () => {
  it('compile', () => {
    const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8')) as {
      config: object
    }
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
    const files = snippets.map(({ name }) => join(work, `${name}.ts`))
    const program = ts.createProgram(files, { ...options, ...plainStrict })
    const faults = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      return `${file?.fileName.slice(work.length + 1) ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
    })
    expect(faults).toEqual([])
    expect(snippets.length).toBeGreaterThan(0)
  }, 60_000)

  it.each(snippets.filter(({ document }) => document === 'README.md'))('run: $name', async ({ name }) => {
    const { stdout } = await run(process.execPath, ['--import', 'tsx', join(work, `${name}.ts`)], {
      cwd: root,
      env: { ...process.env, REDIS_URL: redisUrl() },
      timeout: 30_000,
    })
    expect(stdout).toMatch(/pending/)
  })
})
