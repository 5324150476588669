import { documentedRuleOf } from './documentedRule.js'
import type { TestClient } from './redis.js'

/** How a client signs in. */
export interface Credentials {
  readonly username: string
  readonly password: string
}

let users = 0

/**
 * A user with the documented rights below one prefix, and not one more.
 *
 * @param servers where it is to exist, by a client of each: the nodes of a cluster tell each other nothing of users
 */
export const createMinimalUser = async (
  servers: readonly TestClient[],
  prefix: string,
  rule: readonly string[] = documentedRuleOf('docs/operations.md'),
): Promise<Credentials> => {
  const username = `minimal-${process.pid}-${users++}`
  // `ACL SETUSER <user> …`, and the keys of a service.
  const words = rule.map((word, index) => (index === 2 ? username : word.replace(/^~(svc-a|shop)\//, `~${prefix}`)))
  for (const server of servers) await server.sendCommand(words)
  return { username, password: 'secret' }
}
