import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'

import { isSigned, type S3Credentials } from './isSigned.js'
import { contentOf, type S3Object, type S3Objects } from './s3Objects.js'

/** Answers one request, by the path `/bucket/key`. What S3 can do besides is refused. */
export const answerS3 = async (
  buckets: ReadonlyMap<string, S3Objects>,
  credentials: S3Credentials,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  try {
    const url = new URL(request.url ?? '/', 'http://s3')
    const [, bucket = '', ...path] = url.pathname.split('/').map(decodeURIComponent)
    const objects = buckets.get(bucket)
    if (objects === undefined) return refuse(response, 404, 'NoSuchBucket')
    if (!isSigned(request, url, credentials)) return refuse(response, 403, 'SignatureDoesNotMatch')
    if (isOver(url.searchParams)) return refuse(response, 403, 'AccessDenied')
    const key = path.join('/')
    await (key === '' ? answerBucket(objects, request, response, url) : answerObject(objects, request, response, key))
  } catch {
    // The client is gone, in the midst of what it sent or asked for.
    response.destroy()
  }
}

const answerBucket = (
  objects: S3Objects,
  { method }: IncomingMessage,
  response: ServerResponse,
  { searchParams: query }: URL,
): void => {
  if (query.has('lifecycle')) {
    if (method === 'PUT') return end(response, 200)
    return refuse(response, 404, 'NoSuchLifecycleConfiguration')
  }
  if (method !== 'GET' || query.get('list-type') !== '2') return refuse(response, 501, 'NotImplemented')
  const limit = Number(query.get('max-keys') ?? 1_000)
  const found = objects.list(query.get('prefix') ?? '', query.get('continuation-token') ?? '')
  const page = found.slice(0, limit)
  const next = found.length > limit ? page.at(-1)?.key : undefined
  const xml = [
    `<KeyCount>${String(page.length)}</KeyCount><IsTruncated>${String(next !== undefined)}</IsTruncated>`,
    next === undefined ? '' : `<NextContinuationToken>${escaped(next)}</NextContinuationToken>`,
    ...page.map(
      ({ key, size, etag, lastModified }) =>
        `<Contents><Key>${escaped(key)}</Key><Size>${String(size)}</Size><ETag>${escaped(etag)}</ETag>` +
        `<LastModified>${lastModified.toISOString()}</LastModified></Contents>`,
    ),
  ]
  end(response, 200, `<ListBucketResult>${xml.join('')}</ListBucketResult>`)
}

const answerObject = async (
  objects: S3Objects,
  request: IncomingMessage,
  response: ServerResponse,
  key: string,
): Promise<void> => {
  const { method, headers } = request
  if (method === 'PUT') {
    // Checksums that come behind the content frame each piece of it.
    if (headers['content-encoding'] === 'aws-chunked') return refuse(response, 501, 'NotImplemented')
    const { etag } = await objects.put(key, request, headersToKeep(request))
    response.setHeader('etag', etag)
    return end(response, 200)
  }
  if (method === 'DELETE') {
    await objects.delete(key)
    return end(response, 204)
  }
  const object = objects.get(key)
  if (method !== 'GET' && method !== 'HEAD') return refuse(response, 501, 'NotImplemented')
  if (object === undefined) return refuse(response, 404, 'NoSuchKey')
  response.writeHead(200, {
    ...object.headers,
    'content-length': object.size,
    etag: object.etag,
    'last-modified': object.lastModified.toUTCString(),
  })
  if (method === 'HEAD') response.end()
  else await pipeline(contentOf(object), response)
}

const headersToKeep = ({ headers }: IncomingMessage): S3Object['headers'] =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && (name === 'content-type' || name.startsWith('x-amz-meta-')) ? [[name, value]] : [],
    ),
  )

/** Of a URL that was given out for a while. */
const isOver = (query: URLSearchParams): boolean => {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(query.get('X-Amz-Date') ?? '') ?? []
  const [year = 0, month = 1, ...rest] = parts.map(Number)
  return (
    parts.length > 0 && Date.now() > Date.UTC(year, month - 1, ...rest) + Number(query.get('X-Amz-Expires')) * 1_000
  )
}

const refuse = (response: ServerResponse, status: number, code: string): void => {
  end(response, status, `<Error><Code>${code}</Code><Message>${code}</Message></Error>`)
}

const end = (response: ServerResponse, status: number, xml?: string): void => {
  response.writeHead(status, xml === undefined ? {} : { 'content-type': 'application/xml' }).end(xml)
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
