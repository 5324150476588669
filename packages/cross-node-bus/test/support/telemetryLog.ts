import { CrossNodeBusTelemetry, type CrossNodeBusTelemetryEvents } from '../../src/index.js'

type Log = { [Name in keyof CrossNodeBusTelemetryEvents]: Array<CrossNodeBusTelemetryEvents[Name]> }

/** A telemetry hub together with all it emitted: by event, and the names of the events in their order. */
export function telemetryLog(): Log & { telemetry: CrossNodeBusTelemetry; order: string[] } {
  const telemetry = new CrossNodeBusTelemetry()
  const order: string[] = []
  const log: Log = {
    onCrossNodePublished: [],
    onCrossNodeReceived: [],
    onCrossNodeError: [],
    onCrossNodeWindowEvicted: [],
    onCrossNodeConnection: [],
    onListenerError: [],
  }
  const keep = <Name extends keyof Log>(name: Name) =>
    telemetry.addListener(name, (payload) => {
      order.push(name)
      log[name].push(payload)
    })
  for (const name of Object.keys(log) as Array<keyof Log>) keep(name)
  return { ...log, telemetry, order }
}
