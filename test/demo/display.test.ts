import fc from 'fast-check'
import type { WriteStream } from 'node:tty'
import { describe, expect, it } from 'vitest'
import { Board } from '../../demo/board.js'
import { frame } from '../../demo/display/frame.js'
import { styleFor } from '../../demo/display/style.js'
import { clipEnd, clipStart, padEnd, printable, widthOf } from '../../demo/display/text.js'
import type { FleetWorker } from '../../demo/fleet.js'
import { planTasks } from '../../demo/plan.js'

const terminal = { isTTY: true } as WriteStream
const plain = styleFor(terminal, { NO_COLOR: '1', LANG: 'C.UTF-8' })

describe('text', () => {
  it('counts the columns that a terminal uses', () => {
    expect(widthOf('plain')).toBe(5)
    expect(widthOf('日本')).toBe(4)
    expect(widthOf('e\u0301')).toBe(1)
    expect(widthOf('👩‍👩‍👧')).toBe(2)
  })

  it('makes one line of any name', () => {
    expect(printable('a\nb\tc\u001b[31m\u202e')).toBe('a\\nb\\tc\\u001b[31m\\u202e')
  })

  it('clips to a width, never beyond it', () => {
    expect(clipEnd('abcdef', 4, '…')).toBe('abc…')
    expect(clipStart('abcdef', 4, '…')).toBe('…def')
    expect(clipEnd('日本語', 4, '…')).toBe('日…')
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, width) => {
        const line = printable(text)
        expect(widthOf(clipEnd(line, width, '…'))).toBeLessThanOrEqual(width)
        expect(widthOf(clipStart(line, width, '…'))).toBeLessThanOrEqual(width)
      }),
    )
  })

  it('pads by columns', () => {
    expect(padEnd('日本', 6)).toBe('日本  ')
  })
})

describe('style', () => {
  const bold = (env: NodeJS.ProcessEnv, isTTY = true) => styleFor({ isTTY } as WriteStream, env).bold('x')

  it('colours on terminals only, unless NO_COLOR is set', () => {
    expect(bold({})).toBe('\x1b[1mx\x1b[22m')
    expect(bold({ NO_COLOR: '1' })).toBe('x')
    expect(bold({ NO_COLOR: '' })).not.toBe('x')
    expect(bold({}, false)).toBe('x')
  })

  it('draws with ASCII where the locale has nothing else', () => {
    expect(styleFor(terminal, { LANG: 'C' }).full).toBe('#')
    expect(styleFor(terminal, { LANG: 'C', LC_ALL: 'en_US.UTF-8' }).full).toBe('█')
  })
})

describe('frame', () => {
  const files = ['a.ts', 'new\nline.json', '日本語のとても長いファイル名です.md'].map((path, index) => ({
    path,
    bytes: index,
    modifiedMs: 0,
  }))

  const boardOf = async (): Promise<Board> => {
    const board = new Board('the title', 'the remark', planTasks(files))
    for (const [index, { path }] of files.entries()) board.addTask(`task-${index}`, 'hash:text', path)
    await board.look(() => Promise.resolve([{ type: 'hash:text', entries: 2, running: 1, parked: 0 }]))
    board.workers = (['working', 'killed', 'starting'] as const).map((state, index) => ({
      name: `worker-${index + 1}`,
      pid: 1_000_000 + index,
      state,
      done: 1_234,
      slots: [{ taskId: `task-${index}`, percent: 42.4 }, undefined, undefined, undefined],
    })) as unknown as FleetWorker[]
    for (let index = 0; index < 50; index++) board.note(`event ${index}`, { taskId: 'task-2' })
    return board
  }

  it('shows lanes, slots and the newest events', async () => {
    const lines = frame(await boardOf(), { columns: 80, rows: 24 }, plain)
    const text = lines.join('\n')
    expect(lines).toHaveLength(24)
    expect(text).toContain('the title')
    expect(text).toMatch(/hash:text +1 +1 +- +0 +1 of/)
    expect(text).toContain('worker-1 1234 done')
    expect(text).toMatch(/▸ a\.ts +42%/)
    expect(text).toContain('new\\nline.json')
    expect(lines.at(-1)).toContain('event 49')
  })

  it('fits any screen', async () => {
    const board = await boardOf()
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 250 }), fc.integer({ min: 1, max: 80 }), (columns, rows) => {
        const lines = frame(board, { columns, rows }, plain)
        expect(lines.length).toBeLessThanOrEqual(rows)
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns)
      }),
    )
  })
})
