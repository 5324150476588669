import { extname } from 'node:path'
import type { FileEntry } from './files.js'
import { DELAYED_EVERY, type LaneType, SLOTS, WORKERS } from './settings.js'

/** The task for a file, before it is submitted. */
export interface PlannedTask {
  readonly file: FileEntry
  readonly type: LaneType
  /** How long after its submission it may start; 0: at once. */
  readonly delayMs: number
}

/** What is to be done, and how slowly. */
export interface Plan {
  readonly tasks: readonly PlannedTask[]
  /** How much each task is slowed down, so that the display can be followed; 0 where there is enough to do. */
  readonly slowdownMs: number
}

const TEXT = new Set(
  (
    '.ts .mts .cts .tsx .js .mjs .cjs .jsx .md .txt .html .css .scss .sh .py .rb .rs .go .java .kt .c .h .cpp .hpp .cs ' +
    '.php .swift .lua .sql .rst .adoc .tex'
  ).split(' '),
)

/** The largest files, one in so many, are a type of their own, of which only a few may run at once. */
const LARGE_ONE_IN = 10

/** What the slowed down tasks would take together if no worker was killed. */
const WATCHABLE_MS = 8_000
const MAX_SLOWDOWN_MS = 500
/** Less can not be seen, so it would only be a waste. */
const MIN_SLOWDOWN_MS = 50

/** Makes a task of every file. */
export const planTasks = (files: readonly FileEntry[]): Plan => {
  const bySize = files.map(({ bytes }) => bytes).sort((a, b) => b - a)
  const largeFrom = bySize[Math.ceil(files.length / LARGE_ONE_IN) - 1] ?? 0
  // Many files of the same size are not large all together.
  let placesForLarge = Math.ceil(files.length / LARGE_ONE_IN)
  const isLarge = ({ bytes }: FileEntry): boolean => files.length > 1 && bytes >= largeFrom && placesForLarge-- > 0

  const tasks = files.map((file, index): PlannedTask => {
    const type = isLarge(file) ? 'hash:large' : TEXT.has(extname(file.path).toLowerCase()) ? 'hash:text' : 'hash:data'
    // 1 to 3 seconds, spread over the delayed ones.
    const delayMs = index % DELAYED_EVERY === DELAYED_EVERY - 1 ? 1_000 + ((index * 97) % 2_000) : 0
    return { file, type, delayMs }
  })
  const share = (WATCHABLE_MS * WORKERS * SLOTS) / Math.max(1, files.length)
  return { tasks, slowdownMs: share < MIN_SLOWDOWN_MS ? 0 : Math.min(MAX_SLOWDOWN_MS, Math.round(share)) }
}
