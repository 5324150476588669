import { knownBody } from '../../replay/knownBody.js'
import { rebuildResponse, recordResponse, type RecordedResponse } from '../../replay/recordedResponse.js'
import { stepIdentity } from '../../replay/stepIdentity.js'
import { toAttemptError } from '../toAttemptError.js'
import type { RunSteps } from './runSteps.js'

/** What is recorded of a call that came to no response. */
interface RecordedRejection {
  readonly rejection: { readonly name: string; readonly message: string }
}

/**
 * Calls out once, with the signal of the run, and answers from the record afterwards. Asynchronous, so that an argument that
 * cannot be rejects; up to the step it runs at once.
 */
export const fetchStep = async (steps: RunSteps, input: string | URL, init: RequestInit = {}): Promise<Response> => {
  const url = String(input)
  const method = (init.method ?? 'GET').toUpperCase()
  return steps.take(stepIdentity.fetch(method, url, knownBody(init.body)), async (next) => {
    if (next.kind === 'replay') return { value: replay(next.entry.output as RecordedResponse | RecordedRejection) }
    const { run, writer } = steps
    const signal = init.signal ? AbortSignal.any([init.signal, run.signal]) : run.signal
    let recorded: RecordedResponse
    try {
      recorded = await recordResponse(await fetch(url, { ...init, signal }))
    } catch (error) {
      // What ends with the run is no outcome of the call.
      if (run.stop === undefined && !run.hasEnded) {
        const { name, message } = toAttemptError(error)
        const output: RecordedRejection = { rejection: { name, message } }
        await writer.record(next.key, { ...next.entry, hasFailed: true, output })
      }
      throw error
    }
    const hasFailed = recorded.status >= 400
    await writer.record(next.key, { ...next.entry, ...(hasFailed && { hasFailed }), output: recorded })
    return { value: rebuildResponse(recorded) }
  })
}

const replay = (recorded: RecordedResponse | RecordedRejection): Response => {
  if (!('rejection' in recorded)) return rebuildResponse(recorded)
  const { name, message } = recorded.rejection
  throw Object.assign(name === 'TypeError' ? new TypeError(message) : new Error(message), { name })
}
