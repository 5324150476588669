import { type BlobRef, InMemoryBlobStore } from '@furystack/blob-store'
import { type CreateTask, DEFAULT_RETENTION_POLICY, TaskBlobSweeper, TaskRunnerTelemetry } from '@furystack/task-runner'
import { describe, expect, it, onTestFinished } from 'vitest'

import { keys } from '../../src/keys/keys.js'
import { redisTaskStore } from '../../src/redis/redisTaskStore.js'
import { connectTo } from '../support/connectTo.js'
import { connectClient, uniquePrefix } from '../support/redis.js'

const DAY_MS = 86_400_000
const GOES = { onSuccess: 'delete-all', onFailure: 'delete-all', ttlAfterTerminalDays: 0, keepRowDays: 0 } as const

const setUp = async () => {
  const prefix = uniquePrefix('blobs')
  const client = await connectClient()
  const connection = connectTo(client)
  onTestFinished(() => connection[Symbol.asyncDispose]())
  const store = redisTaskStore({ connection, keys: keys(prefix) })
  const blobStore = new InMemoryBlobStore({ name: 's3' })
  const sweeper = new TaskBlobSweeper(
    { store, blobStore, telemetry: new TaskRunnerTelemetry() },
    { scanIntervalMs: Infinity },
  )
  const run = async (id: string, more: Partial<CreateTask>, consumed: BlobRef[] = []) => {
    await store.create({
      id,
      type: 'page',
      handlerVersion: 1,
      status: 'pending',
      tags: [],
      retentionPolicy: { ...DEFAULT_RETENTION_POLICY, ...GOES },
      ...more,
    })
    await store.beginAttempt({ taskId: id, workerId: 'w', visibilityTimeoutMs: 60_000, redelivered: false })
    const blob = { storeName: 's3', key: `tasks/${id}/out` }
    await store.recordBlob({ taskId: id, attempt: 1, use: 'produced', blob })
    for (const given of consumed) await store.recordBlob({ taskId: id, attempt: 1, use: 'consumed', blob: given })
    await store.finishAttempt({ taskId: id, attempt: 1, workerId: 'w', startedAt: 0, outcome: { kind: 'succeeded' } })
  }
  const left = async () => (await client.keys(`${prefix}*`)).map((key) => key.slice(prefix.length)).sort()
  return { client, prefix, store, sweeper, run, left }
}

describe('the records of blobs in Redis', () => {
  it('leave nothing behind, once all blobs have been dealt with', async () => {
    const { run, sweeper, left } = await setUp()
    const given = { storeName: 's3', key: 'uploads/1' }
    await run('a', {}, [given])
    await run('b', { consumedBlobs: [given] })
    expect(await left()).toEqual([
      'tasks:blobs:s3',
      'tasks:blobusers:s3|uploads/1',
      'tasks:row:a:blobs',
      'tasks:row:b:blobs',
    ])
    expect(await sweeper.runOnce()).toMatchObject({ sweptCount: 2, deletedBlobCount: 3 })
    expect(await left()).toEqual([])
  })

  it('expire with the row of a task that keeps its blobs', async () => {
    const { client, prefix, run, left } = await setUp()
    const keepMs = 60_000
    const given = { storeName: 's3', key: 'uploads/1' }
    const policy = { ...DEFAULT_RETENTION_POLICY, ttlAfterTerminalDays: keepMs / DAY_MS }
    await run('a', { retentionPolicy: policy }, [given])
    const expiring = ['tasks:row:a', 'tasks:row:a:blobs', 'tasks:blobusers:s3|uploads/1']
    expect(await left()).toEqual(expect.arrayContaining(expiring))
    for (const key of expiring) {
      const ms = await client.pTTL(prefix + key)
      expect(ms).toBeGreaterThan(0)
      expect(ms).toBeLessThanOrEqual(keepMs)
    }
    // The row goes when the blobs are due, and says nothing about deleting them: there is nothing to come back for.
    expect(await left()).not.toContain('tasks:blobs:s3')
  })

  it('let somebody keep a blob in use for as long as it is', async () => {
    const { client, prefix, run, store } = await setUp()
    const given = { storeName: 's3', key: 'uploads/1' }
    await run('a', { retentionPolicy: DEFAULT_RETENTION_POLICY }, [given])
    const users = `${prefix}tasks:blobusers:s3|uploads/1`
    expect(await client.pTTL(users)).toBeGreaterThan(0)
    const pending = { id: 'b', type: 'page', handlerVersion: 1, status: 'pending', tags: [] } as const
    await store.create({ ...pending, retentionPolicy: DEFAULT_RETENTION_POLICY, consumedBlobs: [given] })
    expect(await client.pTTL(users)).toBe(-1)
    await store.cancel({ taskId: 'b' })
    expect(await client.pTTL(users)).toBeGreaterThan(0)
  })
})
