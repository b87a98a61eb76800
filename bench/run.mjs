// npm run bench [-- NAME…] [--json]: prints what was measured, each row with its bound. The figures depend on what else
// the machine does: read the ratios, and `uptime` first.
import { cpus, loadavg, totalmem } from 'node:os'
import { render } from './table.ts'

/** In this order; each file exports `bench`. */
const NAMES = [
  'tokens',
  'cold',
  'hooks',
  'briefing',
  'memory',
  'propagation',
  'hub',
  'hub-scale',
  'first-sync',
  'writers',
  'migration',
  'upkeep',
  'as-of',
  'size',
  'shared',
  'act',
  'recall',
  'graph',
  'known-item',
  'embedders',
  'secrets',
  'real',
  'contradictions',
  'code',
  'topics',
  'links',
  'observations',
  'foresee',
  'dashboard',
]

const args = process.argv.slice(2)
const json = args.includes('--json')
const wanted = args.filter((a) => !a.startsWith('-'))
const unknown = wanted.filter((w) => !NAMES.includes(w))
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(', ')}; there are ${NAMES.join(', ')}`)
  process.exit(2)
}
const all = []
const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model ?? '?'}, ${(totalmem() / 2 ** 30).toFixed(0)} GB`
if (!json) console.log(`${new Date().toISOString().slice(0, 10)}, ${machine}, load ${loadavg()[0].toFixed(1)}`)
for (const name of wanted.length > 0 ? wanted : NAMES) {
  const { bench } = await import(`./${name}.ts`)
  const tables = await bench.run()
  all.push({ name, about: bench.about, load: loadavg(), tables })
  if (!json)
    console.log(`\n## ${name}: ${bench.about}\n\n${tables.map(render).join('\n\n')}\n\nload ${loadavg()[0].toFixed(1)}`)
}
const judged = all.flatMap((b) => b.tables.flatMap((t) => t.rows.filter((r) => r.ok !== undefined)))
const missed = judged.filter((r) => !r.ok).length
if (json) console.log(JSON.stringify({ date: new Date().toISOString(), machine, benches: all }, null, 2))
else console.log(`\n${judged.length - missed} of ${judged.length} bounds kept`)
process.exit(0)
