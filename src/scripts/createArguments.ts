import { type CreateTask, DEFAULT_KEY_TTL_MS } from '@furystack/task-runner'

import type { Keys } from '../keys/keys.js'
import { type Lane, lane } from '../keys/lane.js'
import { blobField, blobText, encodeStore } from '../rows/blobText.js'
import { pushFurtherFields, rowFieldsOf } from '../rows/rowCodec.js'
import { parkedMember } from './parkedMember.js'

/**
 * KEYS and ARGV of createTasks.
 *
 * @param entries whether the tasks are to be queued; `together`: and none if a key belongs to another payload; `look`: only to
 * tell what would refuse them
 *
 * @example
 * const [scriptKeys, args] = createArguments(keys('svc/'), 'runner', [draft], true)
 */
export const createArguments = (
  keys: Keys,
  group: string,
  inputs: readonly CreateTask[],
  entries: boolean | 'together' | 'look',
): [keys: string[], args: string[]] => {
  const scriptKeys = [keys.root]
  const args = [group, MODES.get(entries) ?? '', '']
  let runs = 0
  /** What the tasks before were, and where the number of those in their run stands. */
  let of: { readonly like: CreateTask; readonly to: Lane; readonly stream: string } | undefined
  let run: { readonly at: number; tasks: number } | undefined
  for (const input of inputs) {
    // Most lists are of one type.
    if (!of || !isOfOneLane(of.like, input)) {
      const to = lane(input.type, input.handlerVersion, input.tags)
      of = { like: input, to, stream: keys.queue(to) }
      run = undefined
    }
    if (entries !== false && isUsual(input)) {
      if (!run) {
        runs++
        run = { at: args.length, tasks: 0 }
        scriptKeys.push(of.stream)
        args.push('', of.to.name, input.type, String(input.handlerVersion))
      }
      args[run.at] = String(++run.tasks)
      const count = args.push(input.id, '') - 1
      pushFurtherFields(args, input)
      args[count] = String(args.length - count - 1)
    } else {
      runs++
      run = undefined
      pushOther(scriptKeys, args, keys, input, of)
    }
  }
  args[2] = String(runs)
  return [scriptKeys, args]
}

const MODES = new Map<boolean | string, string>([
  [true, '1'],
  ['together', 'a'],
  ['look', 'l'],
])

/** Whether a task goes into its lane and needs nothing else. */
const isUsual = ({
  status,
  notBefore,
  startBefore,
  idempotencyKey,
  parentTaskId,
  consumedBlobs,
}: CreateTask): boolean =>
  status === 'pending' &&
  notBefore === undefined &&
  startBefore === undefined &&
  idempotencyKey === undefined &&
  parentTaskId === undefined &&
  (consumedBlobs === undefined || consumedBlobs.length === 0)

const pushOther = (
  scriptKeys: string[],
  args: string[],
  keys: Keys,
  input: CreateTask,
  { to, stream }: { readonly to: Lane; readonly stream: string },
): void => {
  const { id, type, handlerVersion, status, notBefore = 0, startBefore = '', idempotencyKey, parentTaskId = '' } = input
  scriptKeys.push(stream, idempotencyKey === undefined ? stream : keys.idempotency(type, idempotencyKey))
  const fields = rowFieldsOf(input)
  const member = notBefore > 0 || status === 'draft' ? parkedMember(id, to) : ''
  args.push('0', to.name, member, id, type, String(handlerVersion), status, String(notBefore))
  args.push(
    parentTaskId,
    ...keyArgumentsOf(input),
    String(startBefore),
    blobsOf(input),
    String(fields.length),
    ...fields,
  )
}

const isOfOneLane = (one: CreateTask, other: CreateTask): boolean =>
  one.type === other.type && one.handlerVersion === other.handlerVersion && one.tags === other.tags

const keyArgumentsOf = ({ keyTtlMs = DEFAULT_KEY_TTL_MS, resubmitAfterFailure = false }: CreateTask) => [
  keyTtlMs === Infinity ? '' : String(Math.ceil(keyTtlMs)),
  resubmitAfterFailure ? '1' : '',
]

const blobsOf = ({ consumedBlobs = [] }: CreateTask): string => {
  if (consumedBlobs.length === 0) return ''
  return JSON.stringify(
    consumedBlobs.map((blob) => [blobField({ use: 'consumed', blob }), encodeStore(blob.storeName), blobText(blob)]),
  )
}
