/** A response as it is recorded. */
export interface RecordedResponse {
  readonly url: string
  readonly redirected: boolean
  readonly status: number
  readonly statusText: string
  /** One pair a line, so that `set-cookie` may be repeated. */
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly bodyBase64: string
}

/** They describe the body as it travelled, not as it is read. */
const OF_THE_TRANSFER = new Set(['content-encoding', 'content-length', 'transfer-encoding'])
const WITHOUT_BODY = new Set([204, 205, 304])

/** Reads a response to its end. `undefined`: it has more than `maxBytes`, and the rest of it was cancelled. */
export const recordResponse = async (response: Response, maxBytes: number): Promise<RecordedResponse | undefined> => {
  const body = await readBody(response, maxBytes)
  return body && { ...headOf(response), bodyBase64: body.toString('base64') }
}

const headOf = (response: Response): Omit<RecordedResponse, 'bodyBase64'> => ({
  url: response.url,
  redirected: response.redirected,
  status: response.status,
  statusText: response.statusText,
  headers: [...response.headers].filter(([name]) => !OF_THE_TRANSFER.has(name)),
})

const readBody = async ({ body }: Response, maxBytes: number): Promise<Buffer | undefined> => {
  if (body === null) return Buffer.alloc(0)
  const chunks: Uint8Array[] = []
  let length = 0
  // To leave the loop cancels the body, and the connection with it.
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}

/** Makes a response of what was recorded. */
export const rebuildResponse = (recorded: RecordedResponse): Response => {
  const { url, redirected, status, statusText, bodyBase64 } = recorded
  const headers = new Headers()
  for (const [name, value] of recorded.headers) headers.append(name, value)
  const body = WITHOUT_BODY.has(status) ? null : Buffer.from(bodyBase64, 'base64')
  // The constructor takes no status beyond 599, which some servers answer with, nor what a fetch adds to a response.
  const response = new Response(body, { status: Math.min(status, 599), statusText, headers })
  const add = (name: string, value: unknown): unknown => Object.defineProperty(response, name, { value })
  add('url', url)
  add('redirected', redirected)
  if (response.status !== status) add('status', status)
  return response
}
