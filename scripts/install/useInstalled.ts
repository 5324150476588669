import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { startRedisServer } from '../startRedisServer.js'
import { ensureRedis } from '../ensureRedis.js'
import type { Packed } from './packAll.js'
import { run } from './run.js'

/** Installs the archives into an empty folder, as a user does who has nothing but the registry. */
export const installInto = async (folder: string, packed: readonly Packed[], typesOfNode: string): Promise<void> => {
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const archives = packed.map(({ archive }) => archive)
  await run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--prefer-offline', ...archives, `@types/node@${typesOfNode}`],
    folder,
  )
}

/** Missing, doubled or unwanted packages end it with an error. */
export const checkTree = async (folder: string): Promise<void> => {
  const { dependencies } = JSON.parse(await run('npm', ['ls', '--all', '--json'], folder)) as Tree
  const versions = new Map<string, Set<string>>()
  const walk = (tree: Tree['dependencies'] = {}): void => {
    for (const [name, { version, dependencies }] of Object.entries(tree)) {
      versions.set(name, (versions.get(name) ?? new Set()).add(version ?? ''))
      walk(dependencies)
    }
  }
  walk(dependencies)
  // Their objects are passed from one package to the other.
  for (const name of ['rxjs', 'redis', '@redis/client', '@furystack/inject', '@furystack/blob-store'])
    if (versions.get(name)?.size !== 1)
      throw new Error(`${name} is not there once: ${[...(versions.get(name) ?? [])].join(', ')}`)
}

interface Tree {
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, Tree>>
}

/** Type-checks every entry and the quick start, with libraries, as the two usual kinds of project. */
export const typeCheck = async (
  folder: string,
  entries: readonly string[],
  quickStart: string,
  tsc: string,
): Promise<void> => {
  const imports = entries.map((entry, n) => `import * as entry${n} from '${entry}'`)
  await writeFile(
    join(folder, 'entries.ts'),
    `${imports.join('\n')}\nexport const all = [${entries.map((_, n) => `entry${n}`).join(', ')}]\n`,
  )
  await writeFile(join(folder, 'quickStart.ts'), quickStart)
  const options = {
    target: 'ES2022',
    lib: ['ES2023', 'ESNext.Disposable'],
    types: ['node'],
    strict: true,
    skipLibCheck: false,
    outDir: 'out',
  }
  const kinds = {
    // The declarations of all libraries are looked at once; how they are found is told without.
    bundler: { ...options, skipLibCheck: true, module: 'ESNext', moduleResolution: 'bundler', noEmit: true },
    nodenext: { ...options, module: 'NodeNext', moduleResolution: 'NodeNext' },
  }
  await Promise.all(
    Object.entries(kinds).map(async ([kind, compilerOptions]) => {
      const project = join(folder, `tsconfig.${kind}.json`)
      await writeFile(project, JSON.stringify({ compilerOptions, files: ['entries.ts', 'quickStart.ts'] }))
      await run(process.execPath, [tsc, '--project', project], folder)
    }),
  )
}

/** Runs what the type-check compiled: each entry can be imported, and the quick start does what it says. */
export const runQuickStart = async (folder: string): Promise<string> => {
  await run(process.execPath, ['out/entries.js'], folder)
  const source = await ensureRedis()
  const redis = source.kind === 'url' ? source : await startRedisServer()
  try {
    return await run(process.execPath, ['out/quickStart.js'], folder, {
      env: { ...process.env, REDIS_URL: redis.url },
      timeoutMs: 30_000,
    })
  } finally {
    await redis.stop()
  }
}

/** The first program of the README. */
export const quickStartOf = async (readme: string): Promise<string> => {
  const [, code] = /^```ts\n([^]*?)^```$/m.exec(await readFile(readme, 'utf8')) ?? []
  if (code === undefined) throw new Error(`${readme} has no program`)
  return code
}
