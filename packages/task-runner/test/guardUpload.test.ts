import { Readable } from 'node:stream'

import { InMemoryBlobStore } from '@furystack/blob-store'
import { describe, expect, it } from 'vitest'

import { guardUpload } from '../src/worker/guardUpload.js'

async function* chunks(fault?: Error): AsyncGenerator<Buffer> {
  yield Buffer.from('one ')
  await Promise.resolve()
  if (fault !== undefined) throw fault
  yield Buffer.from('two')
}

const webStream = (fault?: Error): ReadableStream<Uint8Array> => {
  const source = chunks(fault)
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const next = await source.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
  })
}

describe('an upload', () => {
  it.each([
    ['a buffer', () => Buffer.from('one two')],
    ['a stream of Node', () => Readable.from(chunks())],
    ['a stream of the web', () => webStream()],
  ])('stores %s', async (_kind, make) => {
    const store = new InMemoryBlobStore()
    const { payload, failed } = guardUpload(make())
    await Promise.race([store.put('key', payload), failed])
    expect(await new Response((await store.get('key')).stream).text()).toBe('one two')
  })

  it.each([
    ['a stream of Node', (fault: Error) => Readable.from(chunks(fault))],
    ['a stream of the web', (fault: Error) => webStream(fault)],
  ])('rejects with what %s fails with, and leaves nothing', async (_kind, make) => {
    const store = new InMemoryBlobStore()
    const fault = new Error('the source is gone')
    const { payload, failed } = guardUpload(make(fault))
    const putting = store.put('key', payload)
    await expect(Promise.race([putting, failed])).rejects.toBe(fault)
    await expect(putting).rejects.toBeInstanceOf(Error)
    expect(await store.head('key')).toBeUndefined()
  })
})

describe('an upload that is iterated over', () => {
  it('stands still when its source fails, so that nobody takes that for its end', async () => {
    const fault = new Error('the source is gone')
    const { payload, failed } = guardUpload(Readable.from(chunks(fault)))
    // As a store does that hands it on to an HTTP client, which listens to no errors.
    const handedOn = Readable.from(payload as NodeJS.ReadableStream)
    const seen: unknown[] = []
    handedOn.on('data', (chunk) => seen.push(String(chunk)))
    handedOn.on('end', () => seen.push('end'))
    await expect(failed).rejects.toBe(fault)
    await new Promise((resolve) => setImmediate(resolve))
    expect(seen.filter((chunk) => chunk !== 'one ')).toEqual([])
  })
})
