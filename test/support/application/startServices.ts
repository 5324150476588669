import { createClient } from 'redis'

import { startS3 } from '../../../examples/support/startS3.js'
import { startRedisServer } from '../redisServer.js'
import { type Application, type ApplicationSettings, openApplication } from './openApplication.js'
import { type ApplicationProcess, buildApplication, startProcess } from './startProcess.js'

/** The services that share a Redis and an S3. */
export const SERVICES = ['svc-a', 'svc-b'] as const
export type Service = (typeof SERVICES)[number]

/** The other of the two. */
export const otherThan = (service: Service): Service => (service === 'svc-a' ? 'svc-b' : 'svc-a')

/** The documented application, twice: two services, each with a process that submits (this one) and two that work. */
export interface Services {
  readonly applications: Readonly<Record<Service, Application>>
  readonly processes: Readonly<Record<Service, readonly [ApplicationProcess, ApplicationProcess]>>
  /** A client that sees all of their Redis. */
  readonly admin: ReturnType<typeof createAdmin>
  readonly submit: (service: Service, type: string, payload: unknown) => Promise<string>
  /** The process of a service that holds a task, once one does. */
  readonly holderOf: (service: Service, taskId: string) => Promise<ApplicationProcess>
}

const createAdmin = (url: string) => createClient({ url })

/** Starts them, on a Redis and an S3 of their own. */
export const startServices = async (
  onFinished: (end: () => Promise<void>) => void,
  settings: ApplicationSettings = {},
): Promise<Services> => {
  const redis = await startRedisServer()
  onFinished(redis.stop)
  const s3 = await startS3(SERVICES.map((service) => `${service}-blobs`))
  onFinished(async () => s3[Symbol.asyncDispose]())
  const env = { ...s3.env, REDIS_URL: redis.url }
  const before = { ...process.env }
  Object.assign(process.env, env)
  onFinished(async () => {
    for (const name of Object.keys(env)) delete process.env[name]
    Object.assign(process.env, before)
    return Promise.resolve()
  })
  const admin = createAdmin(redis.url)
  await admin.connect()
  onFinished(() => admin.close())

  const path = await buildApplication(onFinished)
  const start = async (service: Service, number: number): Promise<ApplicationProcess> => {
    const user = `${service}-worker-${String(number)}`
    await admin.sendCommand(['ACL', 'SETUSER', user, 'on', 'nopass', '~*', '&*', '+@all'])
    return startProcess(path, service, { env, user, ...settings }, onFinished)
  }
  const startAll = async (service: Service) => {
    const application = await openApplication(service, settings)
    onFinished(application.close)
    return { application, processes: await Promise.all([start(service, 1), start(service, 2)]) }
  }
  const [a, b] = [await startAll('svc-a'), await startAll('svc-b')]
  const applications = { 'svc-a': a.application, 'svc-b': b.application }
  const processes = { 'svc-a': a.processes, 'svc-b': b.processes }
  return {
    applications,
    processes,
    admin,
    submit: async (service, type, payload) =>
      (await applications[service].runner.submit({ type, handlerVersion: 1, payload })).id,
    holderOf: (service, taskId) =>
      Promise.race(
        processes[service].map(async (one) => {
          await one.held(taskId)
          return one
        }),
      ),
  }
}
