import { spawn } from 'node:child_process'

/** What may go differently than usual. */
export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly timeoutMs?: number
}

/** Runs a command, and gives its standard output. Rejects with all it said if it fails. */
export const run = (
  file: string,
  args: readonly string[],
  cwd: string,
  { env = process.env, timeoutMs = 180_000 }: RunOptions = {},
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs })
    let [out, all] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      all += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (all += text))
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) resolve(out)
      else reject(new Error(`${[file, ...args].join(' ')} ended with ${code ?? signal}\n${all}`))
    })
  })
