import type { ExtendAttempt, ExtendResult } from '@furystack/task-runner'

import type { Claim } from '../claim/claim.js'
import type { Connection } from '../connection/connection.js'
import { ScriptReplyError } from '../errors/scriptReplyError.js'
import type { Keys } from '../keys/keys.js'
import { clockLua } from './fragments.js'
import { defineScript, runScript } from './runScript.js'

/**
 * Renews the leases of attempts, each fenced by its number, and stores progress that comes along; with claims, their
 * idle times and cap places too. Tells which rows have been told to cancel.
 *
 * KEYS: 1 root, then for each attempt: row, stream (the row again without a claim).
 * ARGV: now for each attempt: task id, attempt, visibility in ms, progress ('' for none), group ('' without a claim),
 * consumer, entry id, lane, cap type.
 * Returns: now, then for each attempt 0 (lost), 1 (renewed) or the reason of the cancel as text.
 */
const script = defineScript(
  'extendAttempts',
  clockLua +
    `
local root, replies = KEYS[1], { now }
for i = 1, (#KEYS - 1) / 2 do
  local row, stream = KEYS[2 * i], KEYS[2 * i + 1]
  local at = 9 * (i - 1)
  local taskId, run, visibilityMs, progress, group = unpack(ARGV, at + 1, at + 5)
  local consumer, entryId, lane, capType = unpack(ARGV, at + 6, at + 9)
  local head = redis.call('HMGET', row, 's', 'run')
  if head[2] ~= run or (head[1] ~= 'running' and head[1] ~= 'cancelling') then
    replies[i + 1] = 0
  else
    local until_ = int(now + visibilityMs)
    redis.call('HSET', row, 'd', until_)
    if progress ~= '' then redis.call('HSET', row, 'g', progress, 'gx', nowText) end
    if group == '' then
      redis.call('ZADD', root .. 'leases', 'XX', until_, taskId)
    else
      redis.pcall('XCLAIM', stream, group, consumer, 0, entryId, 'JUSTID')
      if capType ~= '' then redis.call('ZADD', root .. 'cap:' .. capType, until_, lane .. ' ' .. entryId) end
    end
    replies[i + 1] = head[1] == 'cancelling' and (redis.call('HGET', row, 'cr') or '') or 1
  end
end
return replies
`,
)

/**
 * The typed caller of the script above; answers in the order of the attempts.
 *
 * @example
 * const input = { taskId: 'a', attempt: 1, visibilityTimeoutMs: 60_000 }
 * const [result] = await extendAttempts(connection, keys('svc/'), 'runner', [{ input }])
 */
export const extendAttempts = async (
  connection: Connection,
  keys: Keys,
  group: string,
  attempts: ReadonlyArray<{ input: ExtendAttempt; claim?: Claim }>,
): Promise<ExtendResult[]> => {
  const scriptKeys = [keys.root]
  const args: string[] = []
  for (const { input, claim } of attempts) {
    const row = keys.row(input.taskId)
    scriptKeys.push(row, claim ? keys.queue(claim.lane) : row)
    args.push(input.taskId, String(input.attempt), String(input.visibilityTimeoutMs), progressText(input))
    args.push(...(claim ? claimFields(claim, group) : ['', '', '', '', '']))
  }
  const reply = await runScript(connection, script, scriptKeys, args)
  if (!Array.isArray(reply) || reply.length !== attempts.length + 1) throw new ScriptReplyError(script.name, reply)
  const [at, ...results] = reply as [number, ...Array<number | string>]
  return results.map((result) => {
    if (result === 0) return { kind: 'lost' }
    if (result === 1) return { kind: 'extended', at, cancelling: false }
    return { kind: 'extended', at, cancelling: true, ...(result !== '' && { cancelReason: String(result) }) }
  })
}

const claimFields = ({ consumer, entryId, lane, isCapped }: Claim, group: string): string[] => [
  group,
  consumer,
  entryId,
  lane.name,
  isCapped ? lane.type : '',
]

/** `meta` is JSON text already, so it is put in as it is. */
const progressText = ({ progress }: ExtendAttempt): string => {
  if (!progress) return ''
  const meta = progress.metaJson === undefined ? '' : `,"meta":${progress.metaJson}`
  return `{"percent":${JSON.stringify(progress.percent)}${meta}}`
}
