import type { BlobRef } from '@furystack/blob-store'
import type { UsedBlob } from '@furystack/task-runner'

/**
 * How scripts name a blob: its store, encoded, and its key.
 *
 * @example
 * blobName({ storeName: 's3', key: 'tasks/a/page.pdf' }) // 's3|tasks/a/page.pdf'
 */
export const blobName = ({ storeName, key }: BlobRef): string => `${encodeStore(storeName)}|${key}`

/**
 * The name of a blob store without `|` and `:`, so that it can stand within other names.
 *
 * @example
 * encodeStore('a|b') // 'a%7Cb'
 */
export const encodeStore = (storeName: string): string =>
  storeName.replaceAll('%', '%25').replaceAll('|', '%7C').replaceAll(':', '%3A')

/**
 * The field that a blob has on the record of its task: `p|<name>` for one that the task produced, `c|<name>` for one that
 * it consumed.
 *
 * @example
 * blobField({ use: 'consumed', blob: { storeName: 's3', key: 'in.csv' } }) // 'c|s3|in.csv'
 */
export const blobField = ({ use, blob }: UsedBlob): string => `${use === 'produced' ? 'p' : 'c'}|${blobName(blob)}`

/** What the field holds, behind the place in the order: `<place>|<JSON>`. */
export const blobText = (blob: BlobRef): string => JSON.stringify(blob)

/** The blobs of a record, as `HGETALL` lists it, in the order in which they came to be on it. */
export const decodeBlobs = (flat: readonly string[]): UsedBlob[] => {
  const found: Array<{ place: number; used: UsedBlob }> = []
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const [field, value] = [flat[i] as string, flat[i + 1] as string]
    // The others say what is to become of them.
    if (field[1] !== '|') continue
    const blob = JSON.parse(value.slice(value.indexOf('|') + 1)) as BlobRef
    const use = field.startsWith('p') ? 'produced' : 'consumed'
    found.push({ place: Number.parseInt(value, 10), used: { use, blob } })
  }
  return found.sort((a, b) => a.place - b.place).map(({ used }) => used)
}
