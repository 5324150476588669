import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deferred } from './deferred.js'
import { connectClient, redisUrl } from './redis.js'
import { startTcpProxy } from './tcpProxy.js'
import { until } from './until.js'

/** An echo server behind a proxy. */
const startEcho = async () => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
    socket.pipe(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = await startTcpProxy({ targetPort: (server.address() as AddressInfo).port })
  onTestFinished(async () => {
    await proxy.stop()
    server.close()
  })
  return { proxy, sockets }
}

const dial = async (port: number) => {
  const socket = connect({ port, host: '127.0.0.1' }).setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  let received = ''
  socket.on('data', (text: string) => (received += text))
  await once(socket, 'connect')
  return { socket, received: () => received }
}

describe('startTcpProxy', () => {
  it('forwards in order, both ways, up to the end', async () => {
    const { proxy } = await startEcho()
    const { socket, received } = await dial(proxy.port)
    const text = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join('\n')
    socket.end(text)
    await once(socket, 'close')
    expect(received()).toBe(text)
    await until(() => proxy.connections === 0, { description: 'the proxy has closed the connection' })
  })

  it('loses nothing of a connection that ends while its data are delayed', async () => {
    const { proxy } = await startEcho()
    proxy.delayMs(50)
    const { socket, received } = await dial(proxy.port)
    const start = performance.now()
    socket.end('late')
    await once(socket, 'close')
    expect(received()).toBe('late')
    expect(performance.now() - start).toBeGreaterThan(95)
  })

  it.each(['cut', 'silence'] as const)('swallows what the server says next, with %s after it', async (then) => {
    const { proxy } = await startEcho()
    const first = await dial(proxy.port)
    first.socket.write('heard')
    await until(() => first.received() === 'heard', { description: 'the echo' })
    const closed = once(first.socket, 'close')
    proxy.swallow(then)
    first.socket.write('lost')
    if (then === 'cut') await closed
    const second = await dial(proxy.port)
    second.socket.write('again')
    await until(() => second.received() === 'again', { description: 'the echo of the next connection' })
    expect(first.received()).toBe('heard')
    expect(first.socket.closed).toBe(then === 'cut')
  })

  it('cuts both sides and takes the next connection', async () => {
    const { proxy, sockets } = await startEcho()
    const first = await dial(proxy.port)
    await until(() => sockets.size === 1, { description: 'the server has the connection' })
    expect(proxy.connections).toBe(1)
    proxy.cut()
    await once(first.socket, 'close')
    await until(() => sockets.size === 0, { description: 'the server has noticed' })

    const second = await dial(proxy.port)
    second.socket.write('again')
    await until(() => second.received() === 'again', { description: 'the echo is back' })
  })

  it('delivers nothing while it is stalled, and everything after that', async () => {
    const { proxy } = await startEcho()
    const held = await dial(proxy.port)
    held.socket.write('1')
    await until(() => held.received() === '1', { description: 'the first echo is back' })
    proxy.stall()
    held.socket.write('2')
    await expect(until(() => held.received() !== '1', { timeoutMs: 100 })).rejects.toThrow('Timed out')
    expect(held.socket.readyState).toBe('open')
    proxy.resume()
    held.socket.write('3')
    await until(() => held.received() === '123', { description: 'all echoes are back' })
  })

  it('cuts connections that are stalled', async () => {
    const { proxy, sockets } = await startEcho()
    const { socket } = await dial(proxy.port)
    await until(() => sockets.size === 1, { description: 'the server has the connection' })
    proxy.stall()
    proxy.cut()
    await once(socket, 'close')
    await until(() => sockets.size === 0, { description: 'the server has noticed' })
  })

  it('refuses new connections only, until it accepts again', async () => {
    const { proxy } = await startEcho()
    const open = await dial(proxy.port)
    await until(() => proxy.connections === 1, { description: 'the proxy has the connection' })
    proxy.refuse()
    await expect(dial(proxy.port)).rejects.toThrow('ECONNREFUSED')
    open.socket.write('still here')
    await until(() => open.received() === 'still here', { description: 'the echo is back' })
    await proxy.accept()
    await expect(dial(proxy.port)).resolves.toBeDefined()
  })

  it('stands in front of Redis', async () => {
    const target = new URL(redisUrl())
    const proxy = await startTcpProxy({ targetPort: Number(target.port || 6379) })
    onTestFinished(proxy.stop)
    const client = await connectClient({ url: proxy.url, socket: { reconnectStrategy: 5 } })
    expect(await client.ping()).toBe('PONG')
    const reconnected = deferred()
    client.once('ready', () => reconnected.resolve())
    proxy.cut()
    await reconnected.promise
    expect(await client.ping()).toBe('PONG')
  })
})
