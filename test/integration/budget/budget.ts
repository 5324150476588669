import { readFileSync, writeFileSync } from 'node:fs'

import { expect } from 'vitest'

const FILE = new URL('./budget.json', import.meta.url)

interface Budget {
  /** Which server the instructions are those of. */
  readonly instructionsOf: string
  /** What each step may cost a task at most. */
  readonly limits: Record<string, Record<string, number>>
}

const read = (): Budget => JSON.parse(readFileSync(FILE, 'utf8')) as Budget
const write = (budget: Budget): void => writeFileSync(FILE, `${JSON.stringify(budget, null, 2)}\n`)

/** What a task may cost, as `budget.json` says; `npm run budget` measures it and writes limits that fit. */
export const budget = {
  /** Whether this run is to set the limits instead of holding to them. */
  isBeingSet: process.env['BUDGET'] === 'set',

  /** The server whose instructions it tells, e.g. `Redis 7.0.15, x64`. */
  get instructionsOf(): string {
    return read().instructionsOf
  },

  setInstructionsOf: (server: string): void => write({ ...read(), instructionsOf: server }),

  /** Fails if a step costs a task more than its limits, or in a way that has no limit. */
  hold: (step: string, cost: Readonly<Record<string, number>>): void => {
    if (budget.isBeingSet) return set(step, cost)
    const limits = read().limits[step] ?? {}
    const over = Object.entries(cost).filter(([name, value]) => !(value <= (limits[name] ?? NaN)))
    expect(Object.fromEntries(over.map(([name, value]) => [name, { cost: value, limit: limits[name] }])), step).toEqual(
      {},
    )
  },
}

const set = (step: string, cost: Readonly<Record<string, number>>): void => {
  const { limits, ...rest } = read()
  const before = limits[step] ?? {}
  const after = Object.fromEntries(
    Object.entries(cost).map(([name, value]) => [name, limitFor(name, value, before[name])]),
  )
  for (const [name, value] of Object.entries(cost)) {
    const [old = 'none', limit] = [before[name], after[name]]
    console.log(`${step}, ${name}: ${Number(value.toPrecision(4))}; limit ${old === limit ? '' : `${old} → `}${limit}`)
  }
  write({ ...rest, limits: { ...limits, [step]: { ...before, ...after } } })
}

/** A limit that still fits stays as it is, so that a new one tells of a change. */
const limitFor = (name: string, cost: number, limit = NaN): number => {
  const margin = marginOf(name, cost)
  return limit >= cost + margin / 2 && limit <= cost + 2 * margin ? limit : roundUp(cost + margin)
}

/**
 * How far above what was measured a limit is set. Instructions lay within 1.5 % of each other in ten runs with all cores
 * busy, those of promotion within 5 %, and it made no difference to take the instructions for vectors away; the rest is for
 * other processors. Bytes have
 * those of the counting with them. How many writes the server reads at once depends on who is faster.
 */
const marginOf = (name: string, cost: number): number => {
  if (name === 'instructions') return 0.12 * cost
  if (name === 'roundTrips') return cost + 0.02
  if (name === 'bytesIn' || name === 'bytesOut') return 0.05 * cost + 2
  return 0.05 * cost
}

/** To three digits. */
const roundUp = (value: number): number => {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 2)
  return Number((Math.ceil(value / unit) * unit).toPrecision(3))
}
