import type { TestClient } from './redis.js'

/** What servers have refused to a user, however quietly whoever asked went on. Not what only the client asks for. */
export const refusedTo = async (username: string, servers: readonly TestClient[]): Promise<string[]> => {
  const logs = await Promise.all(servers.map((server) => server.aclLog(1_000)))
  return logs
    .flat()
    .filter((entry) => entry.username === username && entry.object !== 'client|setinfo')
    .map(({ object }) => String(object))
}
