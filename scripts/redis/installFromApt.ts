import { findOnPath } from './findOnPath.js'
import { runCommand } from './runCommand.js'
import { withoutServiceStart } from './withoutServiceStart.js'

// Another package run may hold the lock for a while, e.g. the updates of a machine that has just booted.
const APT_OPTIONS = ['-q', '-y', '-o', 'DPkg::Lock::Timeout=300']
const APT_ENVIRONMENT = { DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_SUSPEND: '1' }
const TIMEOUT_MS = 10 * 60_000

/** Whether packages can be installed here: root, and a machine with `apt-get`. */
export const canInstallFromApt = (): boolean => process.getuid?.() === 0 && findOnPath('apt-get') !== undefined

/** Installs one of the distribution's packages, without starting a service that it brings. */
export const installFromApt = async (name: string): Promise<void> => {
  // Not fatal: one of several package sources may be away, and the lists at hand may do.
  await runCommand('apt-get', [...APT_OPTIONS, 'update'], { timeoutMs: TIMEOUT_MS, env: APT_ENVIRONMENT })
  const { code, output } = await withoutServiceStart(() =>
    runCommand('apt-get', [...APT_OPTIONS, 'install', '--no-install-recommends', name], {
      timeoutMs: TIMEOUT_MS,
      env: APT_ENVIRONMENT,
    }),
  )
  if (code !== 0) throw new Error(output.trim().split('\n').at(-1) ?? 'apt-get failed')
}
