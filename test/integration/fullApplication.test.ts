import type { BlobRef } from '@furystack/blob-store'
import { BlobStore } from '@furystack/blob-store'
import { defineTaskBlobSweeper, TaskCancelledError, type TaskUpdate, UnknownTaskError } from '@furystack/task-runner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { contentOf, type Fingerprint, fingerprintOf } from '../support/application/content.js'
import {
  otherThan,
  type Service,
  SERVICES,
  type Services,
  startServices,
} from '../support/application/startServices.js'
import { until } from '../support/until.js'

const MIB = 1024 * 1024

type Result<R = unknown> = R & { service: Service; pid: number }

const BlobSweeper = defineTaskBlobSweeper({ scanIntervalMs: Infinity })

// The documented application, twice on one Redis and one S3: two services, each with a process that submits (this one) and
// two that work.
describe('the documented application', { timeout: 60_000 }, () => {
  const ends: Array<() => Promise<void>> = []
  let services: Services
  let applications: Services['applications']
  let processes: Services['processes']
  let admin: Services['admin']

  beforeAll(async () => {
    services = await startServices((end) => void ends.unshift(end))
    ;({ applications, processes, admin } = services)
  }, 60_000)

  afterAll(async () => {
    for (const end of ends) await end()
  }, 30_000)

  const submit = (service: Service, type: string, payload: unknown, consumedBlobs: BlobRef[] = []) =>
    applications[service].runner.submit({ type, handlerVersion: 1, payload, consumedBlobs })

  /** What a task came to; if it failed, with all that its row knows of why. */
  const resultOf = async <R>(service: Service, id: string): Promise<Result<R>> => {
    const { runner } = applications[service]
    try {
      return await runner.waitFor<Result<R>>(id, { timeoutMs: 30_000 })
    } catch (cause) {
      const attempts = (await runner.get(id))?.attempts ?? []
      throw new Error(attempts.map(({ error }) => error?.stack).join('\n'), { cause })
    }
  }

  const run = async <R>(service: Service, type: string, payload: unknown, consumed?: BlobRef[]): Promise<Result<R>> => {
    const { id } = await submit(service, type, payload, consumed)
    return resultOf<R>(service, id)
  }

  const pidsOf = (service: Service): number[] => processes[service].map(({ pid }) => pid)

  const blobsOf = (service: Service) => applications[service].injector.get(BlobStore)

  it.each([
    ['0 bytes', 0],
    ['5 MiB', 5 * MIB],
    ['100 MiB', 100 * MIB],
  ])('gives back what was written, byte for byte: %s', async (_name, bytes) => {
    const seed = bytes % 251
    const written = await fingerprintOf(contentOf(seed, bytes))
    expect(written.bytes).toBe(bytes)
    const { ref, service, pid } = await run<{ ref: BlobRef }>('svc-a', 'write', { seed, bytes })
    expect([service, pidsOf('svc-a').includes(pid)]).toEqual(['svc-a', true])
    expect(ref).toMatchObject({ storeName: 's3', contentType: 'application/octet-stream', contentLength: bytes })
    // By a worker, through the store and by a URL.
    const { read, fetched } = await run<{ read: Fingerprint; fetched: Fingerprint }>('svc-a', 'read', ref, [ref])
    expect(read).toEqual(written)
    expect(fetched).toEqual(written)
    // By whoever has a URL.
    const url = await blobsOf('svc-a').getDownloadUrl(ref.key, { ttlSec: 60 })
    const response = await fetch(url)
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(await fingerprintOf(response.body)).toEqual(written)
    const taskId = ref.key.split('/')[1] ?? ''
    expect((await applications['svc-a'].runner.get(taskId))?.producedBlobs).toEqual([
      expect.objectContaining({ storeName: 's3', key: ref.key, contentLength: bytes, etag: ref.etag }),
    ])
  })

  it('gives out URLs that are good for one blob, one way, and a while', async () => {
    const { ref } = await run<{ ref: BlobRef }>('svc-b', 'write', { seed: 3, bytes: 10 })
    const { ref: other } = await run<{ ref: BlobRef }>('svc-b', 'write', { seed: 4, bytes: 10 })
    const url = await blobsOf('svc-b').getDownloadUrl(ref.key, { ttlSec: 1 })
    expect((await fetch(url)).status).toBe(200)
    expect((await fetch(url.replace(ref.key, other.key))).status).toBe(403)
    expect((await fetch(url.replace('svc-b-blobs', 'svc-a-blobs'))).status).toBe(403)
    expect((await fetch(url.replace('X-Amz-Expires=1', 'X-Amz-Expires=9'))).status).toBe(403)
    expect((await fetch(url, { method: 'PUT', body: 'mine' })).status).toBe(403)
    await until(async () => (await fetch(url)).status === 403)
    const { stream } = await blobsOf('svc-b').get(ref.key)
    expect(await fingerprintOf(stream as never)).toEqual(await fingerprintOf(contentOf(3, 10)))
  })

  it('takes an upload of somebody else, by a URL that a task gave out', async () => {
    const { ref, upload } = await run<{ ref: BlobRef; upload: { url: string; method: string } }>('svc-b', 'invite', {})
    const headers = { 'content-type': 'text/plain' }
    const body = 'x'.repeat(70_000)
    expect((await fetch(upload.url, { method: upload.method, headers, body })).status).toBe(200)
    const { read } = await run<{ read: Fingerprint }>('svc-b', 'read', ref, [ref])
    expect(read).toEqual(await fingerprintOf(new Blob([body]).stream() as never))
  })

  it('keeps tasks, rows, updates and requests to cancel of the services apart', async () => {
    const heard: Record<Service, Set<string>> = { 'svc-a': new Set(), 'svc-b': new Set() }
    const seen: TaskUpdate[] = []
    using _a = applications['svc-a'].runner.subscribeByType('write', ({ taskId }) => heard['svc-a'].add(taskId))
    using _b = applications['svc-b'].runner.subscribeByType('write', (update) => {
      heard['svc-b'].add(update.taskId)
      seen.push(update)
    })
    const tasks = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        const service = SERVICES[index % 2] as Service
        return { service, id: (await submit(service, 'write', { seed: index, bytes: 1_000 })).id }
      }),
    )
    const idsOf = (service: Service): string[] =>
      tasks.flatMap((task) => (task.service === service ? [task.id] : [])).sort()
    const results = await Promise.all(tasks.map(({ service, id }) => resultOf(service, id)))
    results.forEach(({ service, pid }, index) => {
      expect(service).toBe(tasks[index]?.service)
      expect(pidsOf(service)).toContain(pid)
    })
    for (const service of SERVICES) {
      const other = otherThan(service)
      expect([...heard[service]].sort()).toEqual(idsOf(service))
      const rows = await Promise.all(idsOf(other).map((id) => applications[service].runner.get(id)))
      expect(rows.filter((row) => row !== undefined)).toEqual([])
      const begun = processes[service].flatMap(({ started }) => [...started])
      expect(begun.filter((id) => idsOf(other).includes(id))).toEqual([])
    }
    // These have come from another process.
    const [first = ''] = idsOf('svc-b')
    expect(seen.filter(({ taskId }) => taskId === first)).toMatchObject([
      { kind: 'status', status: 'pending' },
      { kind: 'status', status: 'claimed' },
      { kind: 'status', status: 'running' },
      { kind: 'status', status: 'succeeded' },
    ])

    const keys = await admin.keys('*')
    const others = keys.filter((key) => !/^svc-[ab]\/tasks:/.test(key))
    // The bus has no prefix in the documented application: its topics are shared, and what is on them is marked.
    expect(
      others.filter((key) => !/^tasks\/(status|progress|cancel)\/(write|read|invite|hold|stall|break)$/.test(key)),
    ).toEqual([])
    for (const service of SERVICES) {
      const foreign = idsOf(otherThan(service))
      const rows = keys.filter((key) => key.startsWith(`${service}/tasks:row:`))
      expect(rows.length).toBeGreaterThan(0)
      expect(rows.filter((key) => foreign.some((id) => key.includes(id)))).toEqual([])
    }
  })

  it('counts the places of a fleet cap for each service, and cancels in one of them only', async () => {
    const [first, waiting] = [await submit('svc-a', 'hold', 1), await submit('svc-a', 'hold', 2)]
    const holder = await services.holderOf('svc-a', first.id)
    // The one place of the other service is free.
    const other = await submit('svc-b', 'hold', 1)
    const otherHolder = await services.holderOf('svc-b', other.id)
    expect(await admin.zCard('svc-a/tasks:cap:hold')).toBe(1)
    expect(await admin.zCard('svc-b/tasks:cap:hold')).toBe(1)
    expect((await applications['svc-a'].runner.get(waiting.id))?.status).toBe('pending')
    // Asked of the wrong service it is a task that nobody knows, as telemetry tells.
    for (const [service, { id }] of [['svc-b', first] as const, ['svc-a', other] as const]) {
      await applications[service].runner.cancel(id, 'asked of the wrong service')
      expect(applications[service].troubles.splice(0)).toEqual([
        { operation: 'cancel', error: new UnknownTaskError(id) },
      ])
      expect((await applications[otherThan(service)].runner.get(id))?.status).toBe('running')
    }
    await applications['svc-a'].runner.cancel(first.id, 'enough')
    await expect(applications['svc-a'].runner.waitFor(first.id)).rejects.toEqual(
      new TaskCancelledError(first.id, 'enough'),
    )
    const next = await services.holderOf('svc-a', waiting.id)
    expect([holder.service, next.service]).toEqual(['svc-a', 'svc-a'])
    expect([...holder.signals]).toEqual([[first.id, 'enough']])
    expect([...otherHolder.signals]).toEqual([])
    next.goOn(waiting.id)
    otherHolder.goOn(other.id)
    expect(await applications['svc-a'].runner.waitFor(waiting.id)).toMatchObject({ service: 'svc-a' })
    expect(await applications['svc-b'].runner.waitFor(other.id)).toMatchObject({ service: 'svc-b' })
  })

  it('deletes the blobs of a service whose time is over, and none of the other', async () => {
    const { ref } = await run<{ ref: BlobRef }>('svc-a', 'write', { seed: 1, bytes: 10 })
    await run('svc-a', 'read', ref, [ref])
    const kept = await run<{ ref: BlobRef }>('svc-b', 'write', { seed: 1, bytes: 10 })
    const { runner } = applications['svc-a']
    const forever = await runner.submit({
      type: 'write',
      handlerVersion: 1,
      payload: { seed: 2, bytes: 20 },
      retentionPolicy: { onSuccess: 'keep' },
    })
    await runner.waitFor(forever.id)
    const before = await applications['svc-b'].blobKeys()
    expect(before).toContain(kept.ref.key)
    expect(await applications['svc-a'].blobKeys()).toContain(ref.key)
    const { deletedBlobCount, scannedCount, sweptCount } = await applications['svc-a'].injector
      .get(BlobSweeper)
      .runOnce()
    expect(deletedBlobCount).toBeGreaterThan(0)
    expect(sweptCount).toBe(scannedCount)
    expect(await applications['svc-a'].blobKeys()).toEqual([`tasks/${forever.id}/content.bin`])
    expect(await applications['svc-b'].blobKeys()).toEqual(before)
    const row = await runner.get(ref.key.split('/')[1] ?? '')
    expect(row).toMatchObject({ producedBlobs: [], status: 'succeeded' })
    expect(row?.blobsSweptAt).toBeDefined()
    expect((await runner.get(forever.id))?.producedBlobs).toHaveLength(1)
  })

  it('fails a task whose source breaks in the midst of an upload, and nothing else', async () => {
    const { id } = await submit('svc-a', 'break', { bytes: MIB })
    await expect(applications['svc-a'].runner.waitFor(id)).rejects.toThrow('the source is gone')
    const task = await applications['svc-a'].runner.get(id)
    expect(task?.attempts.map(({ status }) => status)).toEqual(['failed'])
    // Whether or not a store keeps the half of it that has come: the task knows of it, so it goes like any other blob.
    expect(task?.producedBlobs.map(({ key }) => key)).toEqual([`tasks/${id}/content.bin`])
    await applications['svc-a'].injector.get(BlobSweeper).runOnce()
    expect(await applications['svc-a'].blobKeys()).not.toContain(`tasks/${id}/content.bin`)
    expect((await applications['svc-a'].runner.get(id))?.producedBlobs).toEqual([])
    expect(processes['svc-a'].map(({ isAlive }) => isAlive())).toEqual([true, true])
  })

  it('is shut down in the midst of an upload, which another process then makes', async () => {
    const [seed, bytes] = [7, MIB]
    const { id } = await submit('svc-b', 'stall', { seed, bytes })
    const stalled = await services.holderOf('svc-b', id)
    const connections = async (): Promise<number> =>
      (await admin.clientList()).filter(({ user }) => user === stalled.user).length
    // The client that it was given, those of the runner, and those of the bus.
    expect(await connections()).toBeGreaterThan(3)
    expect(await stalled.terminate()).toBe(0)
    const result = await applications['svc-b'].runner.waitFor<Result<{ ref: BlobRef; attempt: number }>>(id, {
      timeoutMs: 30_000,
    })
    expect(result).toMatchObject({ service: 'svc-b', attempt: 2 })
    expect(result.pid).not.toBe(stalled.pid)
    const { stream } = await blobsOf('svc-b').get(result.ref.key)
    expect(await fingerprintOf(stream as never)).toEqual(await fingerprintOf(contentOf(seed, bytes)))
    expect((await applications['svc-b'].runner.get(id))?.producedBlobs).toHaveLength(1)
    // Every connection that it had is closed; Redis may hear of the last of them after its end.
    await until(async () => (await connections()) === 0)
  })
})
