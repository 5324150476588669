import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { run } from './run.js'

/** A package as it would be published. */
export interface Packed {
  readonly name: string
  readonly archive: string
  /** Paths within the archive. */
  readonly files: readonly string[]
  /** The folder it was packed from. */
  readonly folder: string
  /** What can be imported of it, e.g. `@furystack/task-runner/testing`. */
  readonly entries: readonly string[]
}

interface PackReport {
  readonly name: string
  readonly filename: string
  readonly files: ReadonlyArray<{ readonly path: string }>
}

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, unknown>>
}

/** Packs the product and its companions into a folder. */
export const packAll = async (root: string, destination: string): Promise<Packed[]> => {
  const report = await run(
    'npm',
    ['pack', '--workspaces', '--include-workspace-root', '--json', '--pack-destination', destination],
    root,
  )
  const folders = JSON.parse(await run('npm', ['query', '.workspace', '--json'], root)) as Array<{
    name: string
    location: string
  }>
  const locations = new Map(folders.map(({ name, location }) => [name, location]))
  // Until npm 11 a list, after that an object by name.
  const packed = Object.values(JSON.parse(report) as Record<string, PackReport>)
  return Promise.all(
    packed.map(async ({ name, filename, files }) => {
      const folder = join(root, locations.get(name) ?? '.')
      const { exports } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
      return {
        name,
        folder,
        archive: join(destination, filename),
        files: files.map(({ path }) => path),
        entries: Object.keys(exports)
          .filter((path) => !path.endsWith('.json'))
          .map((path) => name + path.slice(1)),
      }
    }),
  )
}
