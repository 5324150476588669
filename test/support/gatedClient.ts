import type { RedisClient } from '../../src/index.js'
import type { Link } from './link.js'

/** What a link calls a command: that of a script its name, others by the first of their words. */
export type NameCommand = (args: readonly string[]) => string

/**
 * The client as a template whose duplicates lead over the link: each command is one use of it, and the sockets end when
 * the process dies. The server sees what it sees of a process that is killed.
 */
export const gatedClient = (client: RedisClient, link: Link, nameOf: NameCommand): RedisClient => {
  const gate = (target: RedisClient, isTemplate: boolean): RedisClient => {
    const members: Partial<RedisClient> = {
      duplicate: (overrides) => gate(target.duplicate(overrides), false),
      sendCommand: (args, options) => link.call(nameOf(args), () => target.sendCommand(args, options)),
      connect: async () => {
        if (link.isDead) return link.call('connect', () => Promise.resolve())
        await target.connect()
        if (link.isDead) end(target)
        return undefined
      },
    }
    if (!isTemplate) void link.died.then(() => end(target))
    return new Proxy(target, {
      get(of, key): unknown {
        const member: unknown = members[key as keyof RedisClient] ?? Reflect.get(of, key, of)
        return typeof member === 'function' && !(key in members) ? (member.bind(of) as unknown) : member
      },
    })
  }
  return gate(client, true)
}

const end = (client: RedisClient): void => {
  if (client.isOpen) client.destroy()
}
