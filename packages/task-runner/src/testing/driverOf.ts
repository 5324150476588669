import type { TaskRunner } from '../runner/taskRunner.js'
import type { ClockDriver } from './clockDriver.js'

/** Who moves the time of a runner, where somebody does. */
export const driverOf = new WeakMap<Pick<TaskRunner, 'get'>, ClockDriver>()
