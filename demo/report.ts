import type { Check } from './checks.js'
import { isLostBy } from './checks.js'
import type { Style } from './display/style.js'
import { table } from './display/table.js'
import { clipStart, printable } from './display/text.js'
import type { Fleet, FleetWorker } from './fleet.js'
import { countOf, formatBytes, formatMs } from './format.js'
import type { Loss } from './killBusyWorker.js'
import type { TaskResult } from './results.js'
import { LANE_TYPES, type LaneType, VISIBILITY_TIMEOUT_MS } from './settings.js'
import { percentile } from './statistics.js'

/** What there is to tell at the end. */
export interface Outcome {
  readonly results: readonly TaskResult[]
  readonly fleet: Fleet
  readonly loss: Loss | undefined
  readonly remarks: readonly string[]
  readonly checks: readonly Check[]
  readonly seconds: number
}

/** The report, line by line; paths are clipped so that tables fit `columns`. */
export const report = (outcome: Outcome, columns: number, style: Style): string[] => [
  ...laneTable(outcome, style),
  '',
  ...workerTable(outcome, style),
  ...recovery(outcome, columns, style),
  ...troubles(outcome, style),
  ...outcome.remarks.map((remark) => style.yellow(printable(remark))),
  '',
  ...outcome.checks.map(
    ({ isOk, text }) => `${isOk ? style.green('  ok  ') : style.red('FAILED')}  ${printable(text)}`,
  ),
  '',
  verdict(outcome, style),
]

const laneTable = ({ results }: Outcome, style: Style): string[] => {
  const titles = ['lane', 'tasks', 'failed', 'bytes', 'gzip', 'wait p50', 'p95', 'run p50', 'p95']
  const rows = LANE_TYPES.map((type) => laneRow(type, type, results))
  const [head = '', ...body] = table([titles, ...rows, laneRow('all', undefined, results)])
  return [style.dim(head), ...body]
}

const laneRow = (title: string, type: LaneType | undefined, all: readonly TaskResult[]): string[] => {
  const results = all.filter(({ submitted }) => type === undefined || submitted.planned.type === type)
  const done = results.flatMap(({ result }) => result ?? [])
  const bytes = done.reduce((sum, one) => sum + one.bytes, 0)
  const gzip = done.reduce((sum, one) => sum + one.gzipBytes, 0)
  const waits = results.flatMap(waitOf)
  const runs = results.flatMap(runOf)
  return [
    title,
    String(results.length),
    String(results.length - done.length),
    formatBytes(bytes),
    bytes === 0 ? '-' : `${((100 * gzip) / bytes).toFixed(0)} %`,
    ...[waits, runs].flatMap((values) => [formatMs(percentile(values, 0.5)), formatMs(percentile(values, 0.95))]),
  ]
}

/** From when it was due to its first attempt. */
const waitOf = ({ submitted, row }: TaskResult): number[] => {
  const first = row?.attempts[0]
  return first ? [Math.max(0, Date.parse(first.startedAt) - submitted.dueAt)] : []
}

/** The attempt that succeeded. */
const runOf = ({ row }: TaskResult): number[] =>
  (row?.attempts ?? [])
    .filter(({ status }) => status === 'succeeded')
    .map(({ startedAt, finishedAt = startedAt }) => Date.parse(finishedAt) - Date.parse(startedAt))

const workerTable = ({ results, fleet }: Outcome, style: Style): string[] => {
  const attempts = results.flatMap(({ row }) => row?.attempts ?? [])
  const rows = fleet.workers.map((worker) => {
    const mine = attempts.filter(({ workerId }) => workerId === worker.workerId)
    const count = (status: string): string => String(mine.filter((one) => one.status === status).length)
    return [worker.name, String(worker.pid), count('succeeded'), count('failed'), count('timed-out'), endOf(worker)]
  })
  const [head = '', ...body] = table([['worker', 'pid', 'succeeded', 'failed', 'lost', 'ended'], ...rows])
  return [style.dim(head), ...body]
}

const endOf = ({ state, process: { exitCode, signalCode } }: FleetWorker): string =>
  state === 'killed' ? 'killed' : exitCode === 0 ? 'in order' : (signalCode ?? `code ${exitCode}`)

const recovery = ({ results, fleet, loss }: Outcome, columns: number, style: Style): string[] => {
  if (!loss) return []
  const rows = results.flatMap(({ submitted, row }) => {
    const attempts = row?.attempts ?? []
    const lost = attempts.findIndex(isLostBy(loss))
    if (lost < 0) return []
    const last = attempts.at(-1)
    const afterKill = (time: string | undefined): string =>
      formatMs(time === undefined ? undefined : Date.parse(time) - loss.at)
    return [
      [
        printable(submitted.planned.file.path),
        attempts.map(({ status }) => status).join(', '),
        fleet.find(last?.workerId)?.name ?? '-',
        afterKill(attempts[lost + 1]?.startedAt),
        afterKill(last?.finishedAt),
      ],
    ]
  })
  const timeout = formatMs(VISIBILITY_TIMEOUT_MS)
  const title = `${loss.worker.name} was killed with ${countOf(rows.length, 'task')} in hand (visibility timeout ${timeout})`
  const head = ['its tasks', 'attempts', 'ended by', 'taken over', 'ended']
  const rest = 58
  const clipped = rows.map(([path = '', ...cells]) => [clipStart(path, columns - rest, style.ellipsis), ...cells])
  const [first = '', ...body] = table([head, ...clipped])
  return ['', style.bold(title), style.dim(first), ...body]
}

const MAX_TROUBLES = 10

const troubles = ({ results }: Outcome, style: Style): string[] => {
  const bad = results.filter(({ verdict }) => verdict !== 'equal')
  if (bad.length === 0) return []
  const lines = bad.slice(0, MAX_TROUBLES).map(({ submitted, row, verdict }) => {
    const attempts = countOf(row?.attempts.length ?? 0, 'attempt')
    const what =
      verdict === 'changed'
        ? 'changed while the demo ran'
        : verdict === 'unreadable'
          ? `cannot be read, given up after ${attempts}: ${row?.error?.message ?? ''}`
          : row?.status === 'succeeded'
            ? 'its SHA-256 is not the independent one'
            : `${row?.status ?? 'no row'} after ${attempts}: ${row?.error?.message ?? ''}`
    return `  ${printable(submitted.planned.file.path)}: ${printable(what)}`
  })
  const more = bad.length > MAX_TROUBLES ? [`  and ${bad.length - MAX_TROUBLES} more`] : []
  return ['', style.bold('Not hashed, or not compared:'), ...[...lines, ...more].map(style.yellow)]
}

const verdict = ({ results, checks, loss, seconds }: Outcome, style: Style): string => {
  const failed = checks.filter(({ isOk }) => !isOk).length
  if (failed > 0) return style.red(style.bold(`FAILED: ${failed} of ${countOf(checks.length, 'check')}`))
  const hashed = results.filter(({ result }) => result !== undefined).length
  const killed = loss ? ', one worker killed' : ''
  const unread = results.filter(({ verdict: one }) => one === 'unreadable').length
  const except = unread > 0 ? ` (${unread} cannot be read)` : ''
  return style.green(
    style.bold(
      `OK: ${countOf(hashed, 'file')}${except} in ${seconds.toFixed(1)} s${killed}, nothing lost, nothing left behind`,
    ),
  )
}
