import { LINES, type Medians, show } from './table.js'

const SHOWN = ['submit', 'bulk', 'process, 1', 'process, 10', 'process, 50']
const COLOURS = ['#4269d0', '#efb118', '#9c9c9c']
const [LABELS, BARS, BAR, GAP, TOP] = [170, 470, 16, 18, 54]
const WIDTH = LABELS + BARS + 120

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/**
 * Rates as bars, each case on a scale of its own, because what bare Streams do in bulk would leave nothing to be seen of
 * the others. Colours of the text are those of the reader, dark or light.
 */
export const chartOf = (medians: Medians, subtitle: string): string => {
  const peers = [...medians.keys()]
  const group = peers.length * (BAR + 2) + GAP
  const body: string[] = []
  for (const [index, figure] of SHOWN.entries()) {
    const line = LINES.find((candidate) => candidate.figure === figure)
    const values = peers.map((peer) => medians.get(peer)?.[figure] ?? NaN)
    const top = TOP + index * group
    const scale = BARS / Math.max(...values)
    const middle = top + (peers.length * (BAR + 2)) / 2 + 4
    body.push(`<text x="${LABELS - 10}" y="${middle}" text-anchor="end">${escaped(line?.label ?? figure)}</text>`)
    for (const [position, value] of values.entries()) {
      const y = top + position * (BAR + 2)
      const width = (value * scale).toFixed(1)
      body.push(
        `<rect x="${LABELS}" y="${y}" width="${width}" height="${BAR}" rx="2" fill="${COLOURS[position] ?? '#000'}"/>`,
        `<text x="${(LABELS + Number(width) + 6).toFixed(1)}" y="${y + 12}" class="small">${show(value, 'k/s')} k/s</text>`,
      )
    }
  }
  const legend = peers.map(
    (peer, position) =>
      `<rect x="${LABELS + position * 170}" y="30" width="12" height="12" rx="2" fill="${COLOURS[position] ?? '#000'}"/>` +
      `<text x="${LABELS + position * 170 + 18}" y="40">${escaped(peer)}</text>`,
  )
  const height = TOP + SHOWN.length * group
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">Tasks a second: ${escaped(peers.join(', '))}</title>
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.small { font-size: 11px }
@media (prefers-color-scheme: dark) { text { fill: #d0d7de } }
</style>
<text x="${LABELS}" y="16" class="small">${escaped(subtitle)}</text>
${[...legend, ...body].join('\n')}
</svg>
`
}
