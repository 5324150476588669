import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

/** Dependencies point one way: a folder may import from those that stand after it, and from itself. */
const LAYERS = [
  'index.ts',
  'testing',
  'adapter',
  'lane',
  'delayed',
  'sources',
  'redis',
  'scripts',
  'rows',
  'events',
  'port',
  'claim',
  'connection',
  'keys',
  'errors',
]

const src = fileURLToPath(new URL('../../src', import.meta.url))

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const layerOf = (file: string): string => file.split(sep)[0] ?? file

const imports = files.flatMap((file) =>
  [...readFileSync(join(src, file), 'utf8').matchAll(/^(?:import|export|\})[^'\n]* from '([^']+)'/gm)].map((match) => ({
    file,
    specifier: match[1] ?? '',
  })),
)

describe('the folders of src', () => {
  it('are all known', () => {
    expect([...new Set(files.map(layerOf))].filter((layer) => !LAYERS.includes(layer))).toEqual([])
  })

  it('depend on each other one way only', () => {
    const upwards = imports
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ file, specifier }) => ({ file, to: relative(src, join(src, dirname(file), specifier)) }))
      .filter(({ file, to }) => LAYERS.indexOf(layerOf(to)) < LAYERS.indexOf(layerOf(file)))
    expect(upwards).toEqual([])
  })

  it('know no Redis client but as a shape, and RxJS by its public doors', () => {
    const packages = new Set(
      imports.map(({ specifier }) => specifier).filter((specifier) => !specifier.startsWith('.')),
    )
    expect([...packages].sort()).toEqual([
      '@furystack/blob-store',
      '@furystack/cross-node-bus',
      '@furystack/inject',
      '@furystack/redis-connection',
      '@furystack/task-runner',
      'node:crypto',
      'rxjs',
    ])
  })
})
