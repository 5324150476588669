export { createTestRunner } from './createTestRunner.js'
export { runTaskToCompletion } from './runTaskToCompletion.js'

export type { RunTaskToCompletionOptions } from './runTaskToCompletion.js'
export type { TestRunner } from './testRunner.js'
export type { TestRunnerOptions } from './testRunnerOptions.js'
