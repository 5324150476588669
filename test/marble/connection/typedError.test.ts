import { ClientClosedError, ClientOfflineError, ErrorReply, SocketClosedUnexpectedlyError } from 'redis'
import { describe, expect, it } from 'vitest'

import { typedError } from '../../../src/connection/typedError.js'

describe('typedError', () => {
  it.each(['LOADING', 'MASTERDOWN', 'TRYAGAIN', 'BUSY', 'READONLY', 'UNBLOCKED', 'CLUSTERDOWN', 'OOM', 'MISCONF'])(
    'takes %s for something that passes',
    (reply) => {
      const error = typedError('submit', new ErrorReply(`${reply} something`))
      expect(error).toMatchObject({ code: 'redis-refused', reply, isTransient: true, effect: 'excluded' })
    },
  )

  it.each(['NOPERM', 'WRONGPASS', 'WRONGTYPE', 'ERR'])('takes %s for something that stays', (reply) => {
    const error = typedError('submit', new ErrorReply(`${reply} something`))
    expect(error).toMatchObject({ code: 'redis-refused', reply, isTransient: false })
  })

  it('tells what was never sent from what may have been done', () => {
    for (const error of [new ClientOfflineError(), new ClientClosedError()])
      expect(typedError('submit', error)).toMatchObject({ code: 'redis-unavailable', effect: 'excluded' })
    for (const error of [new SocketClosedUnexpectedlyError(), new Error('anything else'), 'not even an error'])
      expect(typedError('submit', error)).toMatchObject({ code: 'outcome-unknown', effect: 'unknown' })
  })

  it('shows what the server said on one line, and not all of it', () => {
    const { message } = typedError('submit', new ErrorReply(`ERR a\u001b[2J\n${'x'.repeat(10_000)}`))
    expect(message).toContain('ERR a\\u{001b}[2J\\n')
    expect(message.length).toBeLessThan(600)
  })
})
