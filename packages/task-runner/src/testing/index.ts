export { createTestRunner } from './createTestRunner.js'
export { runTaskToCompletion } from './runTaskToCompletion.js'
export { virtualTime } from './virtualTime.js'

export type { RunTaskToCompletionOptions } from './runTaskToCompletion.js'
export type { CreateTestRunner } from './createTestRunner.js'
export type { TestRunner, VirtualTestRunner } from './testRunner.js'
export type { TestRunnerOptions } from './testRunnerOptions.js'
export type { VirtualTime, VirtualTimeOptions } from './virtualTime.js'
