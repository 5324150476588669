import { type BlobRef, validateBlobKey } from '@furystack/blob-store'

import { InvalidArgumentError } from '../errors/invalidArgumentError.js'
import { checkObject } from './checkObject.js'
import { checkText } from './checkText.js'

/** Answers a copy of a reference to a blob, with what belongs to one and nothing else. */
export const checkBlobRef = (property: string, value: BlobRef): BlobRef => {
  const { storeName, key, contentType, contentLength, etag } = checkObject(property, value)
  checkText(`${property}.storeName`, storeName, 512)
  try {
    validateBlobKey(key)
  } catch {
    throw new InvalidArgumentError(`${property}.key`, key, 'the key of a blob')
  }
  return {
    storeName,
    key,
    ...(typeof contentType === 'string' && { contentType }),
    ...(typeof contentLength === 'number' && { contentLength }),
    ...(typeof etag === 'string' && { etag }),
  }
}

/** The same for a list of them, in which none is twice. */
export const checkBlobRefs = (property: string, value: readonly BlobRef[], maxCount: number): BlobRef[] => {
  if (!Array.isArray(value) || value.length > maxCount) {
    throw new InvalidArgumentError(property, value, `an array of at most ${maxCount} references to blobs`)
  }
  const refs = new Map<string, BlobRef>()
  for (const [index, given] of Array.from(value as readonly BlobRef[]).entries()) {
    const ref = checkBlobRef(`${property}[${index}]`, given)
    refs.set(JSON.stringify([ref.storeName, ref.key]), ref)
  }
  return [...refs.values()]
}
