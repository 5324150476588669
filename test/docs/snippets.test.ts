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
 * for granted stands in an HTML comment before it: `<!-- given: declare const user: string -->`. One that says there what
 * it prints is run as well: `<!-- prints: done -->`.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))
const work = join(root, '.snippets')
const run = promisify(execFile)

const SNIPPET = /(?:^<!-- given:([^]*?)-->\n+)?(?:^<!-- prints:([^]*?)-->\n+)?^```ts\n([^]*?)^```$/gm

const documents = [
  'README.md',
  ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`),
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`),
].filter((path) => path.endsWith('.md'))

const snippets = documents.flatMap((document) =>
  [...readFileSync(join(root, document), 'utf8').matchAll(SNIPPET)].map((match, index) => ({
    document,
    name: `${document.replaceAll(/\W+/g, '-')}-${String(index + 1)}`,
    code: `${match[1] ?? ''}\n${match[3] ?? ''}`,
    prints: match[2]?.trim(),
  })),
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

  it('print what they say', async () => {
    const printing = snippets.filter(({ prints }) => prints !== undefined)
    // In one process, one after the other.
    const main = join(work, 'printing.ts')
    await writeFile(main, printing.map(({ name }) => `await import('./${name}.ts')\n`).join(''))
    const { stdout } = await run(process.execPath, ['--import', 'tsx', main], { cwd: root, timeout: 30_000 })
    expect(stdout.trim().split('\n')).toEqual(printing.map(({ prints }) => prints))
    expect(printing.length).toBeGreaterThan(0)
  }, 60_000)
})
