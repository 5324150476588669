import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Who may ask an S3. */
export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const AUTHORIZATION = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/

/**
 * Whether a request was signed by somebody who knows the secret (AWS Signature Version 4), in its headers or, for a URL that
 * was given out, in its query. What was signed is what is asked for: the method, the key, and until when.
 */
export const isSigned = (request: IncomingMessage, url: URL, credentials: S3Credentials): boolean => {
  const { headers, method = '' } = request
  const query = url.searchParams
  const [, credential, signedHeaders, signature] = AUTHORIZATION.exec(headers.authorization ?? '') ?? [
    '',
    query.get('X-Amz-Credential') ?? '',
    query.get('X-Amz-SignedHeaders') ?? '',
    query.get('X-Amz-Signature') ?? '',
  ]
  const [accessKeyId, ...scope] = (credential ?? '').split('/')
  const [day = '', region = '', service = '', end = ''] = scope
  const valueOf = (name: string): string => String(headers[name] ?? '').trim()
  const at = query.get('X-Amz-Date') ?? valueOf('x-amz-date')
  const content = query.get('X-Amz-Content-Sha256') ?? (valueOf('x-amz-content-sha256') || 'UNSIGNED-PAYLOAD')
  const names = (signedHeaders ?? '').split(';')
  const canonical = [
    method,
    (request.url ?? '').split('?')[0],
    canonicalQuery(query),
    ...names.map((name) => `${name}:${valueOf(name)}`),
    '',
    names.join(';'),
    content,
  ].join('\n')
  const text = ['AWS4-HMAC-SHA256', at, scope.join('/'), createHash('sha256').update(canonical).digest('hex')].join(
    '\n',
  )
  const key = [day, region, service, end].reduce<string | Buffer>(mac, `AWS4${credentials.secretAccessKey}`)
  return accessKeyId === credentials.accessKeyId && signature === mac(key, text).toString('hex')
}

const mac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const canonicalQuery = (query: URLSearchParams): string =>
  [...query]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
