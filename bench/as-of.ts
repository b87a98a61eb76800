import { discover } from '../src/discover/discover.ts'
import type { Env } from '../src/env.ts'
import { systemEnv } from '../src/env.ts'
import { trace } from '../src/graph/trace.ts'
import { openProject } from '../src/open.ts'
import { entity, seeded } from './knowledge.ts'
import { decision, tempProject } from './project.ts'
import { type Bench, median, most, quantile, timed } from './table.ts'

/** One of fifty is a decision, one of ten a link between two of them; the others are of other kinds. */
const ENTITIES = 100_000
const BATCH = 50
/** Decisions that are written again with each batch: one is retired, one superseded, the others changed. */
const EDITS = 4
const YEAR = 365 * 86_400_000
const MOMENTS = 60
const BOUND = 100

export const bench: Bench = {
  name: 'as-of',
  about: `reading as of a moment at ${ENTITIES} entities with a year of history`,
  async run() {
    const start = Date.UTC(2026, 0, 1)
    let now = start
    const env: Env = { ...systemEnv, now: () => now }
    const memory = openProject(tempProject(), { env })
    memory.db.exec('PRAGMA synchronous=OFF')
    const chance = seeded(7)
    const decisions: string[] = []
    const any = () => decisions[Math.floor(chance() * decisions.length)]!
    for (let i = 0; i < ENTITIES; i += BATCH) {
      now = start + (i / ENTITIES) * YEAR
      const batch = Array.from({ length: BATCH }, (_, j): [string, Record<string, unknown>] => {
        const n = i + j
        if (n % 50 === 0 || decisions.length < 20) return decision(n)
        if (n % 10 === 1) return ['link-entities', { from: any(), to: any(), type: 'relates-to' }]
        return entity(n % 10 === 4 || n % 10 === 5 ? n + 2 : n)
      }).filter(([, args]) => args.from === undefined || args.from !== args.to)
      const { results } = memory.act(batch)
      decisions.push(...results.flatMap((r) => (r.kind === 'decision' ? [`${r.id}`] : [])))
      const edits = [...new Set(Array.from({ length: EDITS }, any))].map((ref, j): [string, Record<string, unknown>] =>
        j === 0
          ? ['retire', { ref, reason: 'nobody needs it' }]
          : j === 1
            ? ['supersede', { old: ref, new: decisions.at(-1) }]
            : ['update-confidence', { ref, confidence: Math.round(chance() * 100) / 100 }],
      )
      for (const one of edits) {
        try {
          memory.act([one])
        } catch {} // one that would close a cycle
      }
    }
    now = start + YEAR
    const moments = Array.from({ length: MOMENTS }, () => start + chance() * YEAR)
    const iso = (ms: number) => new Date(ms).toISOString()
    const on = (work: (at: number) => unknown) => {
      work(moments[0]!)
      return moments.map((at) => timed(() => work(at)))
    }
    const expr = (program: string) => (at: number) => {
      const [answer = ''] = discover(memory, program, { asOf: iso(at) })
      if (answer.startsWith('(error')) throw new Error(answer)
    }
    const first = `(get-decision ${JSON.stringify(memory.reader.entity(decisions[5]!)!.name)})`
    const measured = {
      '(get-decisions)': on(expr('(get-decisions)')),
      '(get-decisions), now': on(() => discover(memory, '(get-decisions)')),
      '(get-decisions :limit 20)': on(expr('(get-decisions :limit 20)')),
      '(length (get-decisions))': on(expr('(length (get-decisions))')),
      'one decision by its name': on(expr(first)),
      'its trace, depth 3': on((at) => trace(memory.asOf(at), decisions[5]!, {})),
    }
    const counts = memory.db.get<{ events: number; rows: number }>(
      'SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM entities) AS rows',
    )!
    memory.close()
    return [
      {
        title: `ms, ${MOMENTS} moments of the year; ${decisions.length} decisions of ${counts.rows} entities, ${counts.events} events`,
        columns: ['p50', 'p95', 'max'],
        rows: Object.entries(measured).map(([what, ms]) => ({
          what,
          cells: [median(ms), quantile(ms, 0.95), most(ms)],
          ...(what === '(get-decisions)' && { bound: `p95 ≤ ${BOUND}`, ok: quantile(ms, 0.95) <= BOUND }),
        })),
      },
    ]
  },
}
