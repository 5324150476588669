import { ClientClosedError, ClientOfflineError, ErrorReply, SimpleError } from 'redis'
import { ErrorReply as ErrorReply5 } from 'redis-v5'
import { describe, expect, it } from 'vitest'

import { isErrorReply, leadsElsewhere, replyCode, wasNotSent } from '../src/index.js'

describe('what a rejection means', () => {
  it('is told by the first word of what the server said, of either major', () => {
    for (const error of [
      new ErrorReply('MOVED 1 127.0.0.1:6379'),
      new ErrorReply5('MOVED 1'),
      new SimpleError('MOVED'),
    ]) {
      expect(isErrorReply(error)).toBe(true)
      expect(replyCode(error)).toBe('MOVED')
      expect(wasNotSent(error)).toBe(false)
    }
  })

  it('is the connection’s, where the server said nothing', () => {
    for (const error of [new ClientClosedError(), new ClientOfflineError()]) expect(wasNotSent(error)).toBe(true)
    for (const error of [new ClientClosedError(), new Error('MOVED'), 'MOVED', undefined]) {
      expect(isErrorReply(error)).toBe(false)
      expect(replyCode(error)).toBeUndefined()
    }
  })

  it('is to look for the server anew, for some', () => {
    const codes = ['READONLY', 'MOVED', 'CLUSTERDOWN', 'ASK', 'TRYAGAIN', 'LOADING', 'OOM', 'ERR', undefined]
    expect(codes.filter(leadsElsewhere)).toEqual(['READONLY', 'MOVED', 'CLUSTERDOWN'])
  })
})
