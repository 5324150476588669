import { spawn } from 'node:child_process'

// `read` waits for input that never comes and gets the end of the file when the parent is gone, however it went.
const SCRIPT = 'read -r _; kill -9 "$1" 2>/dev/null; rm -rf "$2"'

/**
 * Ends process `pid` and removes `directory` when this process (or worker thread) is gone, also after a SIGKILL, where
 * no handler of ours could run. It notices by a pipe that only this process holds. Call the result when `pid` has
 * ended, so that the number is not used for another process.
 */
export const watchdog = (pid: number, directory: string): (() => void) => {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'watchdog', String(pid), directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Its own process group: a signal to ours must not end it before it has done its work.
    detached: true,
  })
  child.on('error', () => undefined)
  child.stdin.on('error', () => undefined)
  child.unref()
  return () => void child.kill('SIGKILL')
}
