import { randomUUID } from 'node:crypto'

/** A key prefix no other test has, so that tests can share one Redis, e.g. `t:ack:1b9d6bcd/`. */
export const uniquePrefix = (name: string): string => `t:${name}:${randomUUID().slice(0, 8)}/`
