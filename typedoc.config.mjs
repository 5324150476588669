import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The sources of all that can be imported: of the product, and of the companions. */
const manifests = ['package.json', ...readdirSync('packages').map((name) => `packages/${name}/package.json`)]
const entryPoints = manifests.flatMap((manifest) => {
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8'))
  return Object.values(exports)
    .filter((target) => typeof target === 'object')
    .map(({ types }) => join(dirname(manifest), types.replace('dist', 'src').replace('.d.ts', '.ts')))
})

/** @type {Partial<import('typedoc').TypeDocOptions>} */
export default {
  name: '@furystack/redis-task-runner',
  tsconfig: 'tsconfig.docs.json',
  entryPoints,
  out: 'docs/api',
  // The type-check is a stage of its own.
  skipErrorChecking: true,
  treatWarningsAsErrors: true,
}
