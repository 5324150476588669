import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { run } from './install/run.js'

/** What it costs to import something, and nothing else, in a process of its own. */
export interface ImportCost {
  /** Files that were loaded, by package; those of the product itself are `own`. */
  readonly modules: Readonly<Record<string, number>>
  /** What was open afterwards and had not been before: sockets, timers, files. */
  readonly resources: readonly string[]
  /** Milliseconds from the import to its end. */
  readonly ms: number
}

const root = fileURLToPath(new URL('..', import.meta.url))

const PROBE = `
const before = process.getActiveResourcesInfo()
const startedAt = performance.now()
await import(process.argv[1])
const ms = performance.now() - startedAt
// The files of the modules are closed a little later.
while (process.getActiveResourcesInfo().includes('CloseReq')) await new Promise((resolve) => setImmediate(resolve))
const left = process.getActiveResourcesInfo()
for (const name of before) if (left.includes(name)) left.splice(left.indexOf(name), 1)
console.log(JSON.stringify({ ms, resources: left }))
`

/** Imports an entry; what is loaded is told by the coverage that Node itself takes. */
export const importCost = async (entry: string): Promise<ImportCost> => {
  const directory = await mkdtemp(join(tmpdir(), 'import-cost-'))
  try {
    const env = { ...process.env, NODE_OPTIONS: '', NODE_V8_COVERAGE: directory }
    const said = await run(process.execPath, ['--input-type=module', '-e', PROBE, entry], root, { env })
    const [file = ''] = await readdir(directory)
    const { result } = JSON.parse(await readFile(join(directory, file), 'utf8')) as { result: Array<{ url: string }> }
    const urls = new Set(
      result.map(({ url }) => url).filter((url) => url.startsWith('file:') && !url.includes('[eval')),
    )
    const modules: Record<string, number> = {}
    for (const url of urls) {
      const name = packageOf(fileURLToPath(url))
      modules[name] = (modules[name] ?? 0) + 1
    }
    return { modules, ...(JSON.parse(said) as Pick<ImportCost, 'ms' | 'resources'>) }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const packageOf = (path: string): string => {
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
  const companion = /\/packages\/([^/]+)\/dist\//.exec(path)?.[1]
  return installed ?? (companion === undefined ? 'own' : `@furystack/${companion}`)
}

// Run as a script: `tsx scripts/importCost.ts [entry…]` tells what importing costs here.
if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename) {
  const entries = process.argv.slice(2)
  for (const entry of entries.length > 0 ? entries : ['@furystack/redis-task-runner', 'rxjs', 'redis']) {
    const { modules, resources, ms } = await importCost(entry)
    const count = Object.values(modules).reduce((sum, n) => sum + n, 0)
    console.log(
      `${entry}: ${count} modules, ${ms.toFixed(0)} ms, open afterwards: ${resources.join(', ') || 'nothing'}`,
    )
    console.log(
      Object.entries(modules)
        .map(([name, n]) => `  ${name} ${n}`)
        .join('\n'),
    )
  }
}
