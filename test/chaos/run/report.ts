import type { Violation } from '../checker/check.js'
import type { ChaosLine } from '../history/chaosLine.js'
import type { ChaosOutcome } from './runChaos.js'

/** How many violations are told in full; more of them mostly have one cause. */
const TOLD = 5

const TIMELINE = new Set<ChaosLine['kind']>([
  'started',
  'ended',
  'fault',
  'loss',
  'stall',
  'draining',
  'drained',
  'uncaught',
])

/** Seed, timeline, and of each violation the history of its task: what there is to find the cause by. */
export const reportOf = (seed: string, command: string, { violations, lines, state }: ChaosOutcome): string => {
  const start = lines[0]?.at ?? 0
  const tell = ({ at, by, kind, ...rest }: ChaosLine): string => {
    const details = Object.entries(rest).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    )
    return `  ${((at - start) / 1_000).toFixed(3).padStart(8)} s  ${by.padEnd(11)} ${kind} ${details.join(' ')}`
  }
  const historyOf = ({ taskId }: Violation): string[] => {
    if (taskId === undefined) return []
    const refs = new Set(
      lines.flatMap((line) => ('ref' in line && 'taskId' in line && line.taskId === taskId ? [line.ref] : [])),
    )
    const own = lines.filter(
      (line) =>
        ('taskId' in line && line.taskId === taskId) || (line.kind !== 'run' && 'ref' in line && refs.has(line.ref)),
    )
    const row = state.rows.find(({ id }) => id === taskId)
    return [`History of ${taskId}:`, ...own.map(tell), `  its row in the end: ${JSON.stringify(row) ?? 'gone'}`]
  }
  return [
    `${violations.length} violations with seed ${seed}; once more: ${command}`,
    ...violations.map(({ guarantee, message, at, taskId }) =>
      [guarantee, at === undefined ? '' : `at ${((at - start) / 1_000).toFixed(3)} s`, message, taskId ?? '']
        .filter((part) => part !== '')
        .join(' '),
    ),
    'Timeline:',
    ...lines.filter(({ kind }) => TIMELINE.has(kind)).map(tell),
    ...violations.slice(0, TOLD).flatMap(historyOf),
  ].join('\n')
}
