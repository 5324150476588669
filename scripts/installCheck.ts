import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { faultsOf } from './install/faultsOf.js'
import { packAll, type Packed } from './install/packAll.js'
import { run } from './install/run.js'
import { checkTree, installInto, quickStartOf, runQuickStart, typeCheck } from './install/useInstalled.js'

/**
 * `tsx scripts/installCheck.ts` packs the product and its companions, looks at the archives, installs them into an empty
 * folder, type-checks all entries there, and runs the quick start of the README.
 */
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const bin = (name: string): string => join(root, 'node_modules', '.bin', name)

const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
  const startedAt = performance.now()
  const result = await work()
  console.log(`${name}: ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`)
  return result
}

/** What publishers and bundlers of others stumble over. */
const lint = async ({ archive }: Packed): Promise<void> => {
  await run(bin('publint'), ['--strict', archive], root)
  // ESM only: nothing is promised to require() of before Node 20.19.
  await run(bin('attw'), [archive, '--profile', 'esm-only', '--no-emoji'], root)
}

const directory = await mkdtemp(join(tmpdir(), 'install-check-'))
try {
  const packed = await step('pack', () => packAll(root, directory))
  const faults = (await Promise.all(packed.map((one) => faultsOf(one, root)))).flat()
  if (faults.length > 0) throw new Error(faults.join('\n'))
  const user = join(directory, 'user')
  const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>
  }
  await step('install', () => installInto(user, packed, devDependencies['@types/node'] ?? 'latest'))
  await step('npm ls', () => checkTree(user))
  await step('types', async () =>
    typeCheck(
      user,
      packed.flatMap(({ entries }) => entries),
      await quickStartOf(join(root, 'README.md')),
      join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
    ),
  )
  const said = await step('quick start', () => runQuickStart(user))
  if (!/\bpending\b/.test(said)) throw new Error(`The quick start said ${JSON.stringify(said)}`)
  await step('publint, attw', () => Promise.all(packed.map(lint)))
  console.log(`${packed.map(({ name }) => name).join(', ')}: install, type-check and run`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await rm(directory, { recursive: true, force: true })
}
