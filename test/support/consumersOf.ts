import type { TestClient } from './redis.js'

/** The consumers of the group `runner` of a stream, whichever protocol the client speaks; none if there is no group. */
export const consumersOf = async (
  client: TestClient,
  stream: string,
): Promise<Array<{ name: string; pending: number }>> => {
  const reply = await client.xInfoConsumers(stream, 'runner').catch(() => [])
  return reply.map(({ name, pending }) => ({ name: String(name), pending: Number(pending) }))
}
