import type { Clock } from '@furystack/task-runner'

/**
 * The time of the system, whose timers never fire: a runner with it looks at nothing again and gives nothing up, so
 * whatever it learns it was told.
 */
export const clockWithoutTimers: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  setTimer: () => () => undefined,
  nextTurn: (callback) => void setImmediate(callback),
  random: () => Math.random(),
}
