import { MemoryTaskStore } from '@furystack/task-runner'

import { taskStoreSuite } from './taskStoreSuite.js'

taskStoreSuite('MemoryTaskStore', () => {
  let time = Date.UTC(2030, 0, 1)
  return Promise.resolve({
    store: new MemoryTaskStore({ now: () => time }),
    advance: (ms) => void (time += ms),
    dispose: () => Promise.resolve(),
  })
})
