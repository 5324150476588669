/**
 * What can be told at once of the body of a request, so that it can be told from another one: all of text, of bytes and of
 * the texts of a form; of a file its name, type and size. `undefined` if there is none, or nothing of it is known before it
 * has been read, as of a stream.
 */
export const knownBody = (body: RequestInit['body']): string | Uint8Array | undefined => {
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  if (body instanceof Blob) return JSON.stringify(aboutFile(body))
  if (!(body instanceof FormData)) return undefined
  return JSON.stringify([...body].map(([name, value]) => [name, typeof value === 'string' ? value : aboutFile(value)]))
}

const aboutFile = (file: Blob): unknown[] => ['name' in file ? file.name : '', file.type, file.size]
