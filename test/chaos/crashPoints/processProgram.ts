import { mkdir, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

const source = fileURLToPath(new URL('processMain.ts', import.meta.url))
/** Where its packages are found from, and Git does not look. */
const folder = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url))

/** A program as one file, so that many processes can be started. */
export interface ProcessProgram extends AsyncDisposable {
  readonly path: string
}

/** Makes it of processMain. To translate it in each process would cost three times as much. */
export const buildProcessProgram = async (): Promise<ProcessProgram> => {
  await mkdir(folder, { recursive: true })
  const path = `${folder}crash-${process.pid}.mjs`
  await build({
    entryPoints: [source],
    outfile: path,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
  })
  return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) }
}
