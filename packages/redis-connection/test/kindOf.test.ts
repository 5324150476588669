import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import {
  createClient as createClient5,
  createClientPool as createClientPool5,
  createCluster as createCluster5,
  createSentinel as createSentinel5,
} from 'redis-v5'
import { describe, expect, it } from 'vitest'

import { kindOf, objectionTo } from '../src/index.js'

const sentinel = { name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }

describe('kindOf', () => {
  it.each([
    ['single', createClient(), createClient5()],
    ['pool', createClientPool(), createClientPool5()],
    ['sentinel', createSentinel(sentinel), createSentinel5(sentinel)],
    ['cluster', createCluster({ rootNodes: [] }), createCluster5({ rootNodes: [] })],
  ])('tells a client that is %s, of either major', (kind, ...clients) => {
    for (const client of clients) {
      expect(kindOf(client)).toEqual({ kind, client })
      const known = kindOf(client)
      expect(known && objectionTo(known)?.value).toBe('not connected')
    }
  })

  it.each([undefined, null, '', 'redis://127.0.0.1', 7, {}, [], () => undefined, { isOpen: true }, { isOpen: 'yes' }])(
    'takes %j for none',
    (value) => {
      expect(kindOf(value)).toBeUndefined()
    },
  )
})
