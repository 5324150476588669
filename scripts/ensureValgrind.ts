import { findOnPath } from './redis/findOnPath.js'
import { canInstallFromApt, installFromApt } from './redis/installFromApt.js'
import type { RedisLookups } from './redis/RedisLookups.js'

/** What `ensureValgrind` asks of the machine. */
type Lookups = Pick<RedisLookups, 'findOnPath' | 'canInstall' | 'install' | 'say'>

const machine: Lookups = {
  findOnPath,
  canInstall: canInstallFromApt,
  install: () => installFromApt('valgrind'),
  say: (line) => console.error(line),
}

/**
 * Finds valgrind, which counts the instructions of a server: on `PATH`, or as the distribution's package, which is
 * installed only as root. Rejects with one line that says what to do if there is none.
 */
export const ensureValgrind = async (lookups: Lookups = machine): Promise<string> => {
  const present = lookups.findOnPath('valgrind')
  if (present !== undefined) return present

  let tried = ''
  if (lookups.canInstall()) {
    lookups.say('No valgrind on PATH: installing the distribution’s package.')
    try {
      await lookups.install()
      const installed = lookups.findOnPath('valgrind')
      if (installed !== undefined) return installed
      tried = ' (tried: the package brought no binary on PATH)'
    } catch (error) {
      tried = ` (tried: apt-get: ${error instanceof Error ? error.message : String(error)})`
    }
  }
  throw new Error(`No valgrind found${tried}: put it on PATH, or install the package of that name.`)
}
