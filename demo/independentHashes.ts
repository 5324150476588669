import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

/** SHA-256 by path, of the files that could be read, and what computed them. */
export interface IndependentHashes {
  readonly by: string
  readonly hashes: ReadonlyMap<string, string>
}

/** Hashes files without anything of what is demonstrated: by the `sha256sum` command, or in this process without it. */
export const hashIndependently = async (paths: readonly string[], signal: AbortSignal): Promise<IndependentHashes> => {
  const hashes = new Map<string, string>()
  for (const batch of batches(paths)) {
    const found = await sha256sum(batch, signal)
    if (!found) return { by: 'node:crypto in this process', hashes: await hashHere(paths, signal) }
    for (const [path, hash] of found) hashes.set(path, hash)
  }
  return { by: 'sha256sum', hashes }
}

const run = promisify(execFile)

/** `undefined`: there is no such command, or not one that can end its lines so that any name fits. */
const sha256sum = async (paths: readonly string[], signal: AbortSignal): Promise<[string, string][] | undefined> => {
  const options = { signal, maxBuffer: Infinity, encoding: 'utf8' } as const
  const { stdout } = await run('sha256sum', ['--zero', '--', ...paths], options).catch((error: unknown) => {
    signal.throwIfAborted()
    const { code, stdout: output } = error as { code?: unknown; stdout?: string }
    // 1: some could not be read. They are missing from the output.
    return { stdout: code === 1 ? output : undefined }
  })
  if (stdout === undefined || (stdout !== '' && !stdout.endsWith('\0'))) return undefined
  return stdout
    .split('\0')
    .slice(0, -1)
    .map((line) => [line.slice(66), line.slice(0, 64)])
}

const hashHere = async (paths: readonly string[], signal: AbortSignal): Promise<Map<string, string>> => {
  const hashes = new Map<string, string>()
  for (const path of paths) {
    signal.throwIfAborted()
    const hash = createHash('sha256')
    const isRead = await pipeline(createReadStream(path), hash, { signal }).then(
      () => true,
      () => false,
    )
    if (isRead) hashes.set(path, hash.digest('hex'))
  }
  signal.throwIfAborted()
  return hashes
}

const MAX_ARGUMENTS = 200
const MAX_CHARACTERS = 30_000

/** As many as fit in one command line. */
function* batches(paths: readonly string[]): Generator<string[]> {
  let batch: string[] = []
  let characters = 0
  for (const path of paths) {
    if (batch.length === MAX_ARGUMENTS || (batch.length > 0 && characters + path.length > MAX_CHARACTERS)) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(path)
    characters += path.length
  }
  if (batch.length > 0) yield batch
}
