import type { Dirent } from 'node:fs'
import { lstat, readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { DemoError, messageOf } from './errors.js'

/** A file to be hashed, as it was when it was listed. */
export interface FileEntry {
  /** Below the folder. */
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
}

/** The regular files below a folder. */
export interface FileListing {
  readonly folder: string
  readonly files: readonly FileEntry[]
  /** What was left out, in words. */
  readonly remarks: readonly string[]
}

/** Folders of what was made of the sources, or came with them. */
const SKIPPED = new Set(['node_modules', 'dist', 'coverage', '.git'])

/** More would take longer than anybody wants to watch. */
const MAX_FILES = 5_000

/** Lists what is below a folder, in order; of a file, lists just that. Links are not followed. */
export const listFiles = async (target: string): Promise<FileListing> => {
  const root = resolve(target)
  const found = await stat(root).catch((error: unknown) => {
    throw new DemoError(`There is nothing to hash at ${JSON.stringify(target)}: ${messageOf(error)}`)
  })
  if (found.isFile()) return { folder: dirname(root), files: [entryOf(basename(root), found)], remarks: [] }
  if (!found.isDirectory()) throw new DemoError(`${JSON.stringify(target)} is neither a folder nor a file`)

  const files: FileEntry[] = []
  const remarks: string[] = []
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readFolder(folder, remarks)) {
      const path = join(folder, entry.name)
      if (files.length === MAX_FILES) return
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) await walk(path)
      // A name that is no text cannot be told to a worker.
      else if (entry.name.includes('\uFFFD')) remarks.push(`left out, as its name is not UTF-8: ${path}`)
      else if (entry.isFile()) {
        // Undefined: somebody has just removed it.
        const seen = await lstat(path).catch(() => undefined)
        if (seen) files.push(entryOf(relative(root, path), seen))
      }
    }
  }
  await walk(root)
  if (files.length === MAX_FILES) remarks.push(`only the first ${MAX_FILES} files are taken`)
  return { folder: root, files, remarks }
}

const readFolder = async (folder: string, remarks: string[]): Promise<Dirent[]> => {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    remarks.push(`left out: ${messageOf(error)}`)
    return []
  }
}

const entryOf = (path: string, { size, mtimeMs }: { size: number; mtimeMs: number }): FileEntry => ({
  path,
  bytes: size,
  modifiedMs: mtimeMs,
})
