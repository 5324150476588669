import { createMinimalUser } from './createMinimalUser.js'
import { type ConnectClientOptions, connectClient, redisUrl, type TestClient } from './redis.js'

/**
 * A client whose user has the documented rights below one prefix, and not one more, so that the suites which run on it
 * prove that these are enough. Closing it removes the user.
 */
export const connectMinimalClient = async (
  prefix: string,
  { onFinished }: Required<Pick<ConnectClientOptions, 'onFinished'>>,
  rule?: readonly string[],
): Promise<TestClient> => {
  const closers: Array<() => void> = []
  const admin = await connectClient({ onFinished: (close) => closers.push(close) })
  const { username, password } = await createMinimalUser([admin], prefix, rule)
  onFinished(() => {
    // The server ends the connections of a user that is gone.
    admin.sendCommand(['ACL', 'DELUSER', username]).then(
      () => closers.forEach((close) => close()),
      () => closers.forEach((close) => close()),
    )
  })
  const url = new URL(redisUrl())
  url.username = username
  url.password = password
  return connectClient({ url: url.href, onFinished })
}
