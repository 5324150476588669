import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs `action` while packages that get installed are told not to start their services, and puts back what was there
 * before, also if the process is told to end meanwhile. The answer 101 of a `policy-rc.d` script means "not allowed";
 * both the classic init scripts and systemd's helper ask for it.
 */
export const withoutServiceStart = async <T>(
  action: () => Promise<T>,
  policy = '/usr/sbin/policy-rc.d',
): Promise<T> => {
  const saved = `${policy}.${process.pid}`
  const hadPolicy = existsSync(policy)
  let restored = false
  const restore = (): void => {
    if (restored) return
    restored = true
    if (hadPolicy) renameSync(saved, policy)
    else rmSync(policy, { force: true })
  }
  const restoreAndEnd = (signal: NodeJS.Signals): void => {
    restore()
    // The listener is gone after `once`, so the signal now does what it would have done without us.
    process.kill(process.pid, signal)
  }

  if (hadPolicy) renameSync(policy, saved)
  process.once('exit', restore)
  for (const signal of SIGNALS) process.once(signal, restoreAndEnd)
  try {
    writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    return await action()
  } finally {
    process.off('exit', restore)
    for (const signal of SIGNALS) process.off(signal, restoreAndEnd)
    restore()
  }
}
