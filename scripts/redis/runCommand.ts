import { spawn } from 'node:child_process'

/** How a finished command went: `code` is `null` if it could not be started, was killed or took too long. */
export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  /** Both streams, in the order they arrived: what to show if the command failed. */
  readonly output: string
}

/** Runs a command without a terminal or input and collects what it says; never rejects. */
export const runCommand = (
  command: string,
  args: readonly string[],
  options: { readonly timeoutMs?: number; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> =>
  new Promise((resolve) => {
    let stdout = ''
    let output = ''
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
      ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
    })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.once('error', (error) => resolve({ code: null, stdout, output: output + error.message }))
    child.once('close', (code) => resolve({ code, stdout, output }))
  })
