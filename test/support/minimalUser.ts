import { readFileSync } from 'node:fs'

import { type ConnectClientOptions, connectClient, redisUrl, type TestClient } from './redis.js'

const [, rule = ''] =
  /^<!-- acl:.*-->\n\n```\n([^]*?)^```$/m.exec(
    readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8'),
  ) ?? []

/** The words of the rule in the documents: `ACL SETUSER tasks on …`. */
export const documentedRule = rule.trim().split(/\s+/)

/** The commands that the documents say a user needs. */
export const documentedCommands = documentedRule.filter((word) => word.startsWith('+')).map((word) => word.slice(1))

let users = 0

/**
 * A client whose user has the documented rights below one prefix, and not one more, so that the suites which run on it
 * prove that these are enough. Closing it removes the user.
 */
export const connectMinimalClient = async (
  prefix: string,
  { onFinished }: Required<Pick<ConnectClientOptions, 'onFinished'>>,
): Promise<TestClient> => {
  const closers: Array<() => void> = []
  const admin = await connectClient({ onFinished: (close) => closers.push(close) })
  const user = `minimal-${process.pid}-${users++}`
  const words = documentedRule.map((word) =>
    word === 'tasks' ? user : word.startsWith('~') ? word.replace('~svc-a/', `~${prefix}`) : word,
  )
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
