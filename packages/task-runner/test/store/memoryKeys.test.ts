import { expect, it } from 'vitest'

import { DEFAULT_RETENTION_POLICY } from '../../src/index.js'
import { MemoryKeys } from '../../src/store/memory/memoryKeys.js'
import { MemoryRows } from '../../src/store/memory/memoryRows.js'
import { moveTo, newRow } from '../../src/store/memory/memoryTransitions.js'

it('Q38 forgets keys whose time is over and whose task is, also those that nobody asks for', () => {
  const rows = new MemoryRows()
  const keys = new MemoryKeys(rows)
  const take = (key: string, now: number) => {
    const created = { type: 'mail', handlerVersion: 1, tags: [], retentionPolicy: DEFAULT_RETENTION_POLICY }
    const row = newRow({ ...created, id: key, status: 'draft' }, now)
    rows.add(row)
    keys.take('mail', key, { taskId: key, until: now + 100 }, now)
    return row
  }
  const held = take('held', 0)
  for (let now = 1; now <= 1_000; now++) moveTo(take(`key ${String(now)}`, now), 'succeeded', now)
  expect(keys.size).toBeLessThan(250)
  expect(keys.find('mail', 'held', 1_000)).toBe(held)
  expect(keys.find('mail', 'key 1000', 1_000)).toBeDefined()
  expect(keys.find('mail', 'key 900', 1_000)).toBeUndefined()
})
