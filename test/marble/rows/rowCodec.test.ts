import { DEFAULT_RETENTION_POLICY } from '@furystack/task-runner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { decodeAttempt, encodeWorkerId } from '../../../src/rows/attemptText.js'
import { decodeRow, rowFieldsOf } from '../../../src/rows/rowCodec.js'
import { textFields, textOf } from '../../../src/rows/textFields.js'

const valuesOf = (fields: readonly string[]): string[] => fields.filter((_, index) => index % 2 === 1)
const rowOf = (fields: readonly string[]): Map<string, string> =>
  new Map(valuesOf(fields).map((value, index) => [fields[2 * index] as string, value]))

/** Texts around the limits, of characters of one to four bytes. */
const texts = fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀'), maxLength: 1500, size: 'max' })

describe('textFields', () => {
  it('reads back what it has taken apart', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(textOf(rowOf(textFields('p', text)), 'p')).toBe(text)
      }),
    )
  })

  it('makes no part longer than keeps a row compact, and not too many', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const parts = valuesOf(textFields('p', text))
        expect(parts.length).toBeLessThanOrEqual(20)
        if (parts.length > 1) expect(Math.max(...parts.map((part) => Buffer.byteLength(part)))).toBeLessThanOrEqual(64)
      }),
    )
  })

  it.each([
    [0, 1],
    [64, 1],
    [65, 2],
    [1024, 16],
    [1025, 1],
  ])('keeps %i bytes in %i fields', (length, count) => {
    expect(valuesOf(textFields('p', 'x'.repeat(length)))).toHaveLength(count)
  })
})

describe('an attempt', () => {
  it.each(['worker-6f1b2c3d-0000-4000-8000-0123456789ab', 'w', 'a|b%7C~c', '~', 'worker-1', ''])(
    'gives the worker %j back',
    (workerId) => {
      expect(decodeAttempt(1, `5|7|s|${encodeWorkerId(workerId)}|`)).toEqual({
        attempt: 1,
        workerId,
        startedAt: '1970-01-01T00:00:00.005Z',
        finishedAt: '1970-01-01T00:00:00.012Z',
        status: 'succeeded',
      })
    },
  )

  it('keeps a row compact while it has no error', () => {
    const worker = encodeWorkerId('worker-6f1b2c3d-0000-4000-8000-0123456789ab')
    expect(`1790000000000|86400000|s|${worker}|`.length).toBeLessThanOrEqual(64)
  })

  it('has no end while it runs, and an error with separators', () => {
    expect(decodeAttempt(2, '0||i|w|')).toEqual({
      attempt: 2,
      workerId: 'w',
      startedAt: '1970-01-01T00:00:00.000Z',
      status: 'in-progress',
    })
    expect(decodeAttempt(1, '0|0|f|w|{"name":"E","message":"a|b\\n"}')?.error).toEqual({ name: 'E', message: 'a|b\n' })
    expect(decodeAttempt(1, 'nonsense')).toBeUndefined()
  })
})

describe('decodeRow', () => {
  it('reads a new row back', () => {
    const payload = { text: 'x'.repeat(200) }
    const fields = rowFieldsOf({
      id: 'a',
      type: 'mail',
      handlerVersion: 2,
      status: 'pending',
      payloadJson: JSON.stringify(payload),
      notBefore: 1,
      idempotencyKey: 'k',
      parentTaskId: 'p',
      submittedBy: 'me',
      tags: ['gpu'],
      retentionPolicy: { ...DEFAULT_RETENTION_POLICY, ttlAfterTerminalDays: 1 },
    })
    expect(decodeRow('a', ['c', '0', ...fields])).toMatchObject({
      failures: 0,
      losses: 0,
      task: {
        id: 'a',
        type: 'mail',
        handlerVersion: 2,
        status: 'pending',
        payload,
        notBefore: '1970-01-01T00:00:00.001Z',
        idempotencyKey: 'k',
        parentTaskId: 'p',
        submittedBy: 'me',
        tags: ['gpu'],
        retentionPolicy: { ...DEFAULT_RETENTION_POLICY, ttlAfterTerminalDays: 1 },
        submittedAt: '1970-01-01T00:00:00.000Z',
        attempts: [],
        events: [{ kind: 'submitted', at: '1970-01-01T00:00:00.000Z' }],
      },
    })
  })

  it('puts stored events among those that follow from the row', () => {
    const row = [
      't',
      'mail',
      'v',
      '1',
      's',
      'failed',
      'c',
      '0',
      'run',
      '1',
      'a1',
      '10|20|f|w|{"name":"E","message":""}',
    ]
    const stored = { events: ['{"at":20,"kind":"cancel-requested"}'] }
    expect(decodeRow('a', row, stored).task.events.map(({ kind }) => kind)).toEqual([
      'submitted',
      'claimed',
      'cancel-requested',
      'attempt-failed',
    ])
  })
})
