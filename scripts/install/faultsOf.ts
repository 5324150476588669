import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, posix } from 'node:path'

import type { Packed } from './packAll.js'

const NEEDED = ['package.json', 'README.md', 'LICENSE']
const STRAY =
  /(^|\/)(test|tests|coverage|node_modules)\/|\.test\.|\.tsbuildinfo$|^dist\/(?!.*\.(js|d\.ts)(\.map)?$)|\/\.[^/]+$/

/** What is wrong with the contents of an archive: too much, too little, or leading nowhere. */
export const faultsOf = async ({ folder, files, name }: Packed, root: string): Promise<string[]> => {
  const shipped = new Set(files)
  const faults = NEEDED.filter((file) => !shipped.has(file)).map((file) => `${file} is missing`)
  for (const file of files) {
    if (STRAY.test(file)) faults.push(`${file} does not belong there`)
    const source = sourceOf(file)
    if (source && !existsSync(join(folder, source)))
      faults.push(`${file} is left from a source that is gone: npm run clean`)
    if (!/\.(js|ts|map|json)$/.test(file)) continue
    const text = await readFile(join(folder, file), 'utf8')
    for (const path of [root, homedir()])
      if (path !== '/' && path !== '/root' && text.includes(path)) faults.push(`${file} names ${path}`)
    if (file.endsWith('.map')) faults.push(...deadEnds(file, text, shipped))
    if (file.endsWith('.js') && !shipped.has(`${file}.map`)) faults.push(`${file} has no source map`)
    if (file.endsWith('.d.ts') && !shipped.has(`${file}.map`)) faults.push(`${file} has no declaration map`)
  }
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
  faults.push(...manifestFaults(manifest, shipped))
  return faults.map((fault) => `${name}: ${fault}`)
}

interface Manifest {
  readonly type?: string
  readonly sideEffects?: unknown
  readonly license?: string
  readonly description?: string
  readonly engines?: { readonly node?: string }
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
}

const sourceOf = (file: string): string | undefined =>
  file.startsWith('dist/') ? file.replace(/^dist\//, 'src/').replace(/(\.d\.ts|\.js)(\.map)?$/, '.ts') : undefined

const deadEnds = (file: string, text: string, shipped: ReadonlySet<string>): string[] =>
  (JSON.parse(text) as { sources: string[] }).sources
    .map((source) => posix.normalize(posix.join(dirname(file), source)))
    .filter((source) => !shipped.has(source))
    .map((source) => `${file} leads to ${source}, which is not there`)

const manifestFaults = (manifest: Manifest, shipped: ReadonlySet<string>): string[] => {
  const faults: string[] = []
  if (manifest.type !== 'module') faults.push('type is not module')
  if (manifest.sideEffects !== false) faults.push('sideEffects is not false')
  if (manifest.license !== 'MIT') faults.push('license is not MIT')
  if (!manifest.description) faults.push('description is missing')
  if (manifest.engines?.node !== '>=20.19.0') faults.push('engines.node is not >=20.19.0')
  for (const [entry, conditions] of Object.entries(manifest.exports ?? {})) {
    const targets = typeof conditions === 'string' ? [conditions] : Object.values(conditions)
    for (const target of targets)
      if (!shipped.has(posix.normalize(target)))
        faults.push(`exports["${entry}"] leads to ${target}, which is not there`)
    if (typeof conditions === 'object' && Object.keys(conditions)[0] !== 'types')
      faults.push(`exports["${entry}"] does not begin with its types`)
  }
  return faults
}
