import { describe, expect, it } from 'vitest'

import { OpenRuns } from '../src/worker/openRuns.js'
import type { Run } from '../src/worker/run.js'

const runs = Array.from({ length: 4 }, (_, index) => ({ taskId: String(index), openAt: -1 }) as Run)

describe('OpenRuns', () => {
  it('holds what was added and not removed, in whatever order these come', () => {
    for (const first of runs) {
      for (const second of runs) {
        if (first === second) continue
        const open = new OpenRuns()
        for (const run of runs) open.add(run)
        open.remove(first)
        open.remove(second)
        expect(new Set(open.all)).toEqual(new Set(runs.filter((run) => run !== first && run !== second)))
        for (const run of open.all) open.remove(run)
        expect(open.all).toEqual([])
      }
    }
  })
})
