/**
 * `npm run demo -- [folder]`: hashes the files below a folder (the repository's own by default) with tasks that three
 * worker processes share through Redis, kills one of the workers in the middle, and checks that nothing was lost.
 */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { styleFor } from './display/style.js'
import { printable } from './display/text.js'
import { DemoError, Interrupted } from './errors.js'
import { listenForInterrupts } from './interrupts.js'
import { report } from './report.js'
import { runDemo } from './runDemo.js'

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url))

const [argument] = process.argv.slice(2)
// npm runs scripts in the root; a path means what it means where the command was typed.
const target = argument === undefined ? REPOSITORY : resolve(process.env['INIT_CWD'] ?? '.', argument)
const { stdout } = process
const style = styleFor(stdout)
const signal = listenForInterrupts(stdout)

try {
  const outcome = await runDemo(target, stdout, signal)
  if (outcome) {
    stdout.write(`${report(outcome, stdout.columns ?? Infinity, style).join('\n')}\n`)
    if (!outcome.checks.every(({ isOk }) => isOk)) process.exitCode = 1
  } else {
    stdout.write(`There are no files in ${JSON.stringify(target)}: nothing to do.\n`)
  }
} catch (error) {
  // What was interrupted may have rejected for reasons of its own.
  const cause: unknown = signal.aborted ? signal.reason : error
  if (cause instanceof Interrupted) {
    console.error(`Ended by ${cause.by}: what was started has been stopped, and nothing is left behind.`)
    process.exitCode = cause.exitCode
  } else {
    console.error(cause instanceof DemoError ? style.red(printable(cause.message)) : cause)
    process.exitCode = 1
  }
}
