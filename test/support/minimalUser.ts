import { documentedRuleOf } from './documentedRule.js'
import { type ConnectClientOptions, connectClient, redisUrl, type TestClient } from './redis.js'

let users = 0

/**
 * A client whose user has the documented rights below one prefix, and not one more, so that the suites which run on it
 * prove that these are enough. Closing it removes the user.
 */
export const connectMinimalClient = async (
  prefix: string,
  { onFinished }: Required<Pick<ConnectClientOptions, 'onFinished'>>,
  rule = documentedRuleOf('docs/operations.md'),
): Promise<TestClient> => {
  const closers: Array<() => void> = []
  const admin = await connectClient({ onFinished: (close) => closers.push(close) })
  const user = `minimal-${process.pid}-${users++}`
  // `ACL SETUSER <user> …`, and the keys below a prefix.
  const words = rule.map((word, index) => (index === 2 ? user : word.replace(/^~[^/]*\//, `~${prefix}`)))
  await admin.sendCommand(words)
  onFinished(() => {
    // The server ends the connections of a user that is gone.
    admin.sendCommand(['ACL', 'DELUSER', user]).then(
      () => closers.forEach((close) => close()),
      () => closers.forEach((close) => close()),
    )
  })
  const url = new URL(redisUrl())
  url.username = user
  url.password = 'secret'
  return connectClient({ url: url.href, onFinished })
}
