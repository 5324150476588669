const SLOTS = 16_384

/**
 * The part of a key that decides on its slot: what stands between the first `{` and the next `}`, if anything does.
 *
 * @example
 * hashTagOf('{svc-a}/tasks:') // 'svc-a'
 */
export const hashTagOf = (key: string): string | undefined => {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open + 1)
  return close > open + 1 ? key.slice(open + 1, close) : undefined
}

/**
 * The slot of a key in a Redis Cluster: CRC16 (XMODEM) of its hash tag, or of all of it.
 *
 * @example
 * hashSlot('{svc-a}/tasks:') === hashSlot('{svc-a}/tasks:scheduler') // true
 */
export const hashSlot = (key: string): number => {
  let crc = 0
  for (const byte of new TextEncoder().encode(hashTagOf(key) ?? key)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
    crc &= 0xffff
  }
  return crc % SLOTS
}
