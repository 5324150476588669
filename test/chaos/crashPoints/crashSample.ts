import { randomOf } from '../run/random.js'

/** `CRASH_SEED=123` takes the moments of that run once more. */
const seed = process.env['CRASH_SEED'] || String(Math.floor(Math.random() * 2 ** 31))

/** Which moments of all are taken, where not all of them are: one seed a run decides on it. */
export const crashSample = {
  /** What takes the same ones again, to be told with what has failed. */
  again: `CRASH_SEED=${seed}`,
  /** Of a list, every so manieth; whatever else the run takes, the same ones of the list of that name. */
  everyNth: <T>(list: readonly T[], every: number, name: string, isAlways: (item: T) => boolean = () => false): T[] => {
    const from = randomOf(`${seed}/${name}`).int(0, every - 1)
    return list.filter((item, index) => isAlways(item) || index % every === from)
  },
}
