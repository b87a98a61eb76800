import { openProject } from '../src/project/open.ts'
import { runTogether } from './group.ts'
import { bareCommit, tempProject } from './project.ts'
import { type Bench, least, median, most, quantile, type Row, timed } from './table.ts'

const ROUNDS = 3
const BATCHES = 1200

interface Wrote {
  begin: number
  end: number
  ms: number[]
}

/** So many processes write a share of the batches each; what was acknowledged is looked for afterwards. */
async function round(processes: number): Promise<{ perSecond: number; ms: number[]; lost: number }> {
  const project = tempProject()
  openProject(project).close()
  const each = BATCHES / processes
  const names = Array.from({ length: processes }, (_, i) => `w${i}`)
  const wrote = await runTogether<Wrote>(names.map((name) => ['writer', project.root, name, String(each)]))
  const seconds = (most(wrote.map((w) => w.end)) - least(wrote.map((w) => w.begin))) / 1000
  const memory = openProject(project)
  let lost = 0
  for (const [p, { ms }] of wrote.entries())
    for (let i = 0; i < ms.length; i++) if (!memory.reader.entity(`decision:${names[p]}-${i}`)) lost++
  memory.close()
  return { perSecond: BATCHES / seconds, ms: wrote.flatMap((w) => w.ms), lost }
}

export const bench: Bench = {
  name: 'writers',
  about: `processes that write at once, ${BATCHES} batches of one action in all`,
  async run() {
    const counts = [1, 2, 8]
    const commit = bareCommit()
    const bare: number[] = []
    const measured = counts.map(() => [] as Awaited<ReturnType<typeof round>>[])
    for (let r = 0; r < ROUNDS; r++) {
      bare.push(1000 / median(Array.from({ length: 300 }, () => timed(commit))))
      for (const [i, n] of counts.entries()) measured[i]!.push(await round(n))
    }
    const rows: Row[] = counts.map((n, i) => {
      const rates = measured[i]!.map((m) => m.perSecond)
      const ms = measured[i]!.flatMap((m) => m.ms)
      const lost = measured[i]!.reduce((sum, m) => sum + m.lost, 0)
      const alone = median(measured[0]!.map((m) => m.perSecond))
      return {
        what: `${n} process${n > 1 ? 'es' : ''}`,
        cells: [
          least(rates),
          median(rates),
          most(rates),
          median(rates) / alone,
          median(ms),
          quantile(ms, 0.99),
          most(ms),
          lost,
        ],
        bound: '0 lost',
        ok: lost === 0,
      }
    })
    return [
      {
        title: `acknowledged batches per second, ${ROUNDS} rounds; ms until one is acknowledged`,
        columns: ['min/s', 'median/s', 'max/s', '× alone', 'p50 ms', 'p99 ms', 'max ms', 'lost'],
        rows,
        notes: [
          `a bare SQLite commit of one row in one process: ${median(bare).toFixed(0)}/s`,
          'the machine has two cores: eight writers share them',
        ],
      },
    ]
  },
}
