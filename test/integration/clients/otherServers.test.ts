import { describe, expect, it } from 'vitest'

import { exercises } from '../../support/exercise.js'
import { connectClient, uniquePrefix } from '../../support/redis.js'
import { serverOfTest } from '../../support/redisServer.js'
import { serviceOn } from '../../support/service.js'
import { type Pose, startPosing } from '../../support/startPosing.js'

describe('a server is taken by what it can do, whatever it calls itself', () => {
  it.each<[string, Pose]>([
    ['the oldest that is supported', { version: '6.2.0' }],
    ['Valkey, which goes on from 7.2', { server: 'valkey', version: '9.1.2' }],
    ['Redis 8', { version: '8.4.0' }],
    ['a version of two digits', { version: '10.0.1' }],
    ['a development branch', { version: '255.255.255' }],
    ['a release candidate', { version: '8.6-rc1' }],
    ['another server that speaks the protocol', { server: 'other', version: '6.2.14-v1.2' }],
  ])('%s', async (_, pose) => {
    const url = await startPosing(await serverOfTest(), pose)
    const client = await connectClient({ url })
    const hello = JSON.stringify(await client.sendCommand(['HELLO']))
    for (const told of Object.values(pose)) expect(hello).toContain(`"${told}"`)
    const { runner, work, troubles } = serviceOn(client, uniquePrefix('pose'))
    work(exercises)
    const { id } = await runner.submit({ type: 'double', handlerVersion: 1, payload: 21 })
    expect(await runner.waitFor(id, { timeoutMs: 10_000 })).toBe(42)
    expect(troubles).toEqual([])
  })
})
