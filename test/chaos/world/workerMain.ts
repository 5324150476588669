import { SLOTS } from '../run/settings.js'
import { chaosHandlers } from './chaosHandlers.js'
import { openRunner } from './openRunner.js'
import { beginProcess } from './processStart.js'

/** A worker of a chaos run; see chaosProcess. */
const { by, way, prefix, tags, settings, note } = beginProcess()

const { runner, dispose } = await openRunner(way, prefix, by, settings)
const worker = runner.registerWorker({
  name: by,
  handlers: chaosHandlers(note),
  concurrency: SLOTS,
  tags: [...tags],
  compatibleVersions: {},
})
note({ kind: 'ready', workerId: worker.workerId, slots: SLOTS })

process.once('SIGTERM', () => {
  note({ kind: 'draining' })
  void dispose().then(() => {
    note({ kind: 'drained' })
    process.exit(0)
  })
})
process.send?.('ready')
