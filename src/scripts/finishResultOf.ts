import type { FinishResult, TaskStatus } from '@furystack/task-runner'

import { parentOf } from './parentOf.js'

/**
 * Reads what the scripts that end attempts answer: status ('' if lost), due time or reason, open children, and what the
 * fragment `tellParent` answered, '1' if the row is gone; if lost the row's status.
 *
 * @example
 * finishResultOf(0, ['succeeded', '', '0', '']) // { kind: 'finished', status: 'succeeded', at: 0 }
 */
export const finishResultOf = (at: number, reply: readonly string[]): FinishResult => {
  const [status = '', detail = '', open = '0', parent = '', isGone] = reply as [TaskStatus | '', ...string[]]
  if (status === '') return { kind: 'lost', ...(detail && { status: detail as TaskStatus }) }
  return {
    kind: 'finished',
    status,
    at,
    ...(status === 'pending' && detail && { notBefore: Number(detail) }),
    ...(status === 'cancelled' && detail && { cancelReason: detail }),
    ...(open !== '0' && Number(open) > 0 && { openChildren: Number(open) }),
    ...parentOf(parent),
    ...(isGone === '1' && { removed: true as const }),
  }
}
