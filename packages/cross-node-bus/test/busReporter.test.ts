import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { BusReporter } from '../src/adapter/index.js'
import { CrossNodeBusTelemetry } from '../src/index.js'

const lost = { originId: 'a', purpose: 'publish', state: 'lost' } as const
const ready = { ...lost, state: 'ready' } as const

describe('an outage where nobody listens', () => {
  let lines: string[]
  beforeEach(() => {
    lines = []
    const spy = vi.spyOn(console, 'error').mockImplementation((...words) => void lines.push(words.join(' ')))
    onTestFinished(() => spy.mockRestore())
  })

  it('is one line until all connections are back', () => {
    const reporter = new BusReporter(undefined)
    reporter.connection(lost)
    reporter.interrupted('t', 'publish', new Error('of\nseveral\u001b[31m lines'))
    reporter.connection({ ...lost, purpose: 'subscribe' })
    reporter.interrupted('t', 'subscribe', new Error('the other'))
    reporter.connection(ready)
    reporter.interrupted('t', 'publish', new Error('not yet over'))
    expect(lines).toEqual([
      'The bus cannot publish, which is told once until it can again: Error: of several [31m lines',
    ])
    reporter.connection({ ...ready, purpose: 'subscribe' })
    reporter.connection(lost)
    reporter.interrupted('t', 'publish', 'x'.repeat(10_000))
    expect(lines).toHaveLength(2)
    expect(lines[1]?.length).toBeLessThan(600)
  })

  it('is over when a message was accepted, if it was no connection that was lost', () => {
    const reporter = new BusReporter(undefined)
    reporter.interrupted('t', 'publish', new Error('OOM'))
    reporter.interrupted('t', 'publish', new Error('OOM'))
    reporter.published('t', 'a', '1')
    reporter.interrupted('t', 'publish', new Error('OOM'))
    expect(lines).toHaveLength(2)
    reporter.connection(lost)
    reporter.published('t', 'a', '1')
    reporter.interrupted('t', 'publish', new Error('OOM'))
    expect(lines).toHaveLength(2)
  })

  it('is told to whoever listens, each time', () => {
    const telemetry = new CrossNodeBusTelemetry()
    const told: unknown[] = []
    telemetry.addListener('onCrossNodeError', ({ error }) => told.push(error))
    const reporter = new BusReporter(telemetry)
    reporter.interrupted('t', 'publish', 1)
    reporter.interrupted('t', 'subscribe', 2)
    expect(told).toEqual([1, 2])
    expect(lines).toEqual([])
  })
})
