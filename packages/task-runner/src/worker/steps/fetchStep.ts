import { quoted } from '../../argument/printable.js'
import { PayloadError } from '../../errors/payloadError.js'
import { knownBody } from '../../replay/knownBody.js'
import { rebuildResponse, recordResponse, type RecordedResponse } from '../../replay/recordedResponse.js'
import { stepIdentity } from '../../replay/stepIdentity.js'
import { toAttemptError } from '../toAttemptError.js'
import type { RunSteps } from './runSteps.js'

/** What is recorded of a call that came to no response. */
interface RecordedRejection {
  readonly rejection: {
    readonly name: string
    readonly message: string
    /** What the body was larger than. */
    readonly maxBytes?: number
  }
}

/**
 * Calls out once, with the signal of the run, and answers from the record afterwards. Asynchronous, so that an argument that
 * cannot be rejects; up to the step it runs at once.
 */
export const fetchStep = async (steps: RunSteps, input: string | URL, init: RequestInit = {}): Promise<Response> => {
  const url = String(input)
  const method = (init.method ?? 'GET').toUpperCase()
  return steps.take(stepIdentity.fetch(method, url, knownBody(init.body)), async (next) => {
    const subject = `the response to ${quoted(`${method} ${url}`)}`
    if (next.kind === 'replay') {
      return { value: replay(next.entry.output as RecordedResponse | RecordedRejection, subject) }
    }
    const { parts, run, writer } = steps
    const maxBytes = parts.settings.maxPayloadBytes
    const recordRejection = async (error: unknown, more?: { maxBytes: number }): Promise<void> => {
      // What ends with the run is no outcome of the call.
      if (run.stop !== undefined || run.hasEnded) return
      const { name, message } = toAttemptError(error)
      const output: RecordedRejection = { rejection: { name, message, ...more } }
      await writer.record(next.key, { ...next.entry, hasFailed: true, output })
    }
    const signal = init.signal ? AbortSignal.any([init.signal, run.signal]) : run.signal
    let recorded: RecordedResponse | undefined
    try {
      recorded = await recordResponse(await fetch(url, { ...init, signal }), maxBytes)
    } catch (error) {
      await recordRejection(error)
      throw error
    }
    if (recorded === undefined) {
      const error = tooLarge(subject, maxBytes)
      await recordRejection(error, { maxBytes })
      throw error
    }
    const hasFailed = recorded.status >= 400
    await writer.record(next.key, { ...next.entry, ...(hasFailed && { hasFailed }), output: recorded })
    return { value: rebuildResponse(recorded) }
  })
}

const tooLarge = (subject: string, maxBytes: number): PayloadError =>
  new PayloadError(subject, `it takes more than ${maxBytes} bytes`)

const replay = (recorded: RecordedResponse | RecordedRejection, subject: string): Response => {
  if (!('rejection' in recorded)) return rebuildResponse(recorded)
  const { name, message, maxBytes } = recorded.rejection
  if (maxBytes !== undefined) throw tooLarge(subject, maxBytes)
  throw Object.assign(name === 'TypeError' ? new TypeError(message) : new Error(message), { name })
}
