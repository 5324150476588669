import { describe, expect, it } from 'vitest'

import { fill, mail, read, taskIds } from './lanePort/harness.js'
import { redisHarness } from './lanePort/redisHarness.js'
import { lanePortSuite } from './lanePortSuite.js'

lanePortSuite('redisLanePort', redisHarness)

describe('redisLanePort on what only a server can hold', () => {
  it('sets members of the schedule aside that it cannot read, and moves those behind them', async () => {
    const harness = await redisHarness()
    const { port, ask, root, command } = harness
    const unreadable = ['no JSON', '42', '{}', '{"taskId":"x"}', '{"taskId":"x","type":"mail"}']
    for (const member of unreadable) await command('ZADD', `${root}scheduler`, '1', member)
    await ask(port.enqueue({ taskId: 'a', lane: mail, notBefore: (await harness.now()) + 300 }))
    await harness.advance(310)

    await ask(port.promote({ promoterId: 'w', roleMs: 100, limit: 100 }))

    expect(await harness.parked()).toBe(0)
    expect(taskIds(await read(harness, { slots: 2 }))).toEqual(['a'])
    expect(await command('XLEN', `${root}unreadable`)).toBe(unreadable.length)
  })

  it('sets entries aside that name no task, and reads those behind them', async () => {
    const harness = await redisHarness()
    const { root, command } = harness
    await fill(harness, mail, 'a')
    await command('XADD', `${root}queue:mail:v1`, '*', 'colour', 'red')
    await fill(harness, mail, 'b')

    expect(taskIds(await read(harness, { slots: 3 }))).toEqual(['a', 'b'])
    expect(await harness.length(mail)).toBe(2)
    expect(await command('XLEN', `${root}unreadable`)).toBe(1)
  })

  it('passes over names in the registry that are not lanes', async () => {
    const harness = await redisHarness()
    await fill(harness, mail, 'a')
    await harness.command('SADD', `${harness.root}lanes`, 'nonsense', 'mail:v1:tags=%')

    expect(await harness.ask(harness.port.knownLanes())).toEqual([mail])
  })
})
