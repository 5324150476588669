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
const WITHOUT_BODY = new Set([101, 103, 204, 205, 304])

/** Reads a response to its end. */
export const recordResponse = async (response: Response): Promise<RecordedResponse> => ({
  url: response.url,
  redirected: response.redirected,
  status: response.status,
  statusText: response.statusText,
  headers: [...response.headers].filter(([name]) => !OF_THE_TRANSFER.has(name)),
  bodyBase64: Buffer.from(await response.arrayBuffer()).toString('base64'),
})

/** Makes a response of what was recorded. */
export const rebuildResponse = (recorded: RecordedResponse): Response => {
  const { url, redirected, status, statusText, bodyBase64 } = recorded
  const headers = new Headers()
  for (const [name, value] of recorded.headers) headers.append(name, value)
  const body = WITHOUT_BODY.has(status) ? null : Buffer.from(bodyBase64, 'base64')
  // The constructor takes no informational status, nor what a fetch adds to a response.
  const response = new Response(body, { status: status < 200 ? 204 : status, statusText, headers })
  const add = (name: string, value: unknown): unknown => Object.defineProperty(response, name, { value })
  add('url', url)
  add('redirected', redirected)
  if (response.status !== status) {
    add('status', status)
    add('ok', false)
  }
  return response
}
