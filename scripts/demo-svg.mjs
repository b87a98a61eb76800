// Draws docs/demo.svg: commands that are really run, in a project and a home of their own, as an animated terminal.
// `npm run build && node scripts/demo-svg.mjs`
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const COLUMNS = 92
const LINE = 20
const CHARACTER = 8.43
const PAUSE = 1.1
const COLORS = {
  31: '#f28b82',
  32: '#81c995',
  33: '#fdd663',
  34: '#8ab4f8',
  35: '#d7aefb',
  36: '#78d9ec',
  90: '#9aa0a6',
}

const SHOWN = [
  ['# monday, one session', null],
  ['tidemark remember "Never log card numbers"', 'monday'],
  ['tidemark claim src/cart.ts --note "rounding of totals"', 'reviewer'],
  ['# another agent, in another terminal', null],
  ['tidemark recall "may I write the card to the log?"', 'evening'],
  ['tidemark claim src/cart.ts', 'evening'],
  ['# the reviewer is done', null],
  ['tidemark release --to evening', 'reviewer'],
  ['tidemark claims', 'evening'],
]

const top = mkdtempSync(join(tmpdir(), 'tidemark-demo-'))
const [home, shop, bin] = ['home', 'shop', 'bin'].map((name) => join(top, name))
for (const dir of [home, join(shop, 'src'), bin]) mkdirSync(dir, { recursive: true })
writeFileSync(
  join(bin, 'tidemark'),
  `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'bin/tidemark.js')}" "$@"\n`,
  { mode: 0o755 },
)
const env = {
  PATH: `${bin}:${process.env.PATH}`,
  HOME: home,
  USER: 'ana',
  TZ: 'UTC',
  FORCE_COLOR: '1',
  COLUMNS: String(COLUMNS),
}
const run = (command, session) => {
  const { stdout, stderr, error } = spawnSync('sh', ['-c', command], {
    cwd: shop,
    env: { ...env, ...(session ? { TIDEMARK_SESSION: session } : {}) },
    encoding: 'utf8',
  })
  if (error) throw error
  return (stdout + stderr).trimEnd().split('\n')
}
run(
  'git init -q . && git config user.name ana && git config user.email ana@example.org && tidemark init --yes --client none',
)

const xml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** A line with colours of the terminal as spans. */
function spans(line) {
  let style = ''
  return line
    .split(/\u001b\[([\d;]*)m/)
    .map((part, i) => {
      if (i % 2 === 0) return part === '' ? '' : `<tspan${style}>${xml(part)}</tspan>`
      for (const code of part.split(';').map(Number)) {
        if (code === 0 || code === 39 || code === 22) style = ''
        else if (code === 1) style += ' font-weight="bold"'
        else if (code === 2) style += ' opacity="0.65"'
        else if (COLORS[code]) style += ` fill="${COLORS[code]}"`
      }
      return ''
    })
    .join('')
}

/** A line that is too wide goes on below, indented. */
function wrapped(line) {
  if (line.includes('\u001b') || line.length <= COLUMNS) return [line]
  const cut = line.lastIndexOf(' ', COLUMNS)
  return [line.slice(0, cut), ...wrapped(`    ${line.slice(cut + 1)}`)]
}

const lines = []
let at = 0.4
for (const [command, session] of SHOWN) {
  const shown = session
    ? `<tspan fill="#81c995">$</tspan> ${xml(command)}`
    : `<tspan fill="#9aa0a6">${xml(command)}</tspan>`
  lines.push({ at, text: shown })
  at += session ? 0.5 : PAUSE
  if (session === null) continue
  for (const line of run(command, session).flatMap(wrapped)) lines.push({ at, text: spans(line) })
  at += PAUSE
}
rmSync(top, { recursive: true })

const width = Math.round(COLUMNS * CHARACTER) + 40
const height = lines.length * LINE + 40
writeFileSync(
  join(ROOT, 'docs/demo.svg'),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Two sessions share a rule and a file">
<style>text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#e8eaed;white-space:pre}.l{animation:a .2s both}@keyframes a{from{opacity:0}}@media(prefers-reduced-motion:reduce){.l{animation:none}}</style>
<rect width="${width}" height="${height}" rx="8" fill="#202124"/>
${lines.map(({ at, text }, i) => `<text class="l" style="animation-delay:${at.toFixed(1)}s" x="20" y="${32 + i * LINE}" xml:space="preserve">${text}</text>`).join('\n')}
</svg>
`,
)
console.log(`docs/demo.svg: ${lines.length} lines, ${at.toFixed(0)} s`)
