import { existsSync } from 'node:fs'
import { type Env, systemEnv } from '../src/base/env.ts'
import type { Memory } from '../src/engine/memory.ts'
import { trace } from '../src/find/graph/trace.ts'
import { Recaller } from '../src/find/recall/recall.ts'
import { discover } from '../src/project/discover/discover.ts'
import { openAt, openProject } from '../src/project/open.ts'
import { entity, question, seeded } from './knowledge.ts'
import { decision, tempProject } from './project.ts'
import { type Bench, median, most, quantile } from './table.ts'

/** One of fifty is a decision, one of ten a link between two of them; the others are of other kinds. */
const ENTITIES = 100_000
const BATCH = 50
/** Decisions that are written again with each batch: one is retired, one superseded, the others changed. */
const EDITS = 4
const YEAR = 365 * 86_400_000
const MOMENTS = 60
const START = Date.UTC(2026, 0, 1)
/** Milliseconds within which 95 of 100 are answered. */
const BOUNDS: Readonly<Record<string, number>> = { '(get-decisions)': 100, recall: 150 }

/** A year of a project. `TIDEMARK_YEAR=DIR` takes one that an earlier run left there, or leaves it. */
function filled(): Memory {
  const kept = process.env.TIDEMARK_YEAR
  if (kept && existsSync(`${kept}/.tidemark`)) return openAt({ projectPath: kept, unlisted: true }).memory
  let now = START
  const env: Env = { ...systemEnv, now: () => now }
  const memory = openProject(tempProject(kept), { env, unlisted: true })
  memory.db.exec('PRAGMA synchronous=OFF')
  const chance = seeded(7)
  const decisions: string[] = []
  const any = () => decisions[Math.floor(chance() * decisions.length)]!
  for (let i = 0; i < ENTITIES; i += BATCH) {
    now = START + (i / ENTITIES) * YEAR
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
          : j === 2
            ? ['record-decision', { ref, description: `${question(i, ENTITIES)} was said anew` }]
            : ['update-confidence', { ref, confidence: Math.round(chance() * 100) / 100 }],
    )
    for (const one of edits) {
      try {
        memory.act([one])
      } catch {} // one that would close a cycle
    }
  }
  now = START + YEAR
  return memory
}

export const bench: Bench = {
  name: 'as-of',
  about: `reading as of a moment at ${ENTITIES} entities with a year of history`,
  async run() {
    const memory = filled()
    const chance = seeded(11)
    const moments = Array.from({ length: MOMENTS }, () => START + chance() * YEAR)
    const iso = (ms: number) => new Date(ms).toISOString()
    const on = (work: (at: number, i: number) => unknown) => {
      work(moments[0]!, MOMENTS)
      return moments.map((at, i) => {
        const [since, before] = [performance.now(), process.cpuUsage()]
        work(at, i)
        const { user, system } = process.cpuUsage(before)
        return { wall: performance.now() - since, cpu: (user + system) / 1000 }
      })
    }
    const expr = (program: string) => (at: number) => {
      const [answer = ''] = discover(memory, program, { asOf: iso(at) })
      if (answer.startsWith('(error')) throw new Error(answer)
    }
    const recaller = new Recaller(memory, undefined, { embedder: { use: 'none' } })
    const oldest = memory.reader.ids('decision', { all: true }).at(-5)!
    const first = `(get-decision ${JSON.stringify(memory.reader.entity(oldest)!.name)})`
    const measured = {
      '(get-decisions)': on(expr('(get-decisions)')),
      '(get-decisions), now': on(() => discover(memory, '(get-decisions)')),
      '(get-decisions :limit 20)': on(expr('(get-decisions :limit 20)')),
      '(length (get-decisions))': on(expr('(length (get-decisions))')),
      'one decision by its name': on(expr(first)),
      'its trace, depth 3': on((at) => trace(memory.asOf(at), oldest, {})),
      recall: on((asOf, i) => recaller.askNow(question(i, ENTITIES), { asOf })),
      'recall, now, by words': on((_, i) => recaller.askNow(question(i, ENTITIES))),
    }
    const counts = memory.db.get<{ events: number; rows: number; decisions: number }>(
      `SELECT (SELECT sum(json_array_length(body)) FROM events) AS events, (SELECT count(*) FROM entities) AS rows,
         (SELECT count(*) FROM entities WHERE kind='decision') AS decisions`,
    )!
    memory.close()
    return [
      {
        title: `ms, ${MOMENTS} moments of the year; ${counts.decisions} decisions of ${counts.rows} entities, ${counts.events} events`,
        columns: ['wall p50', 'wall p95', 'wall max', 'CPU p50', 'CPU p95'],
        rows: Object.entries(measured).map(([what, all]) => {
          const [wall, cpu] = [all.map((m) => m.wall), all.map((m) => m.cpu)]
          const bound = BOUNDS[what]
          const cells = [median(wall), quantile(wall, 0.95), most(wall), median(cpu), quantile(cpu, 0.95)]
          return { what, cells, ...(bound && { bound: `p95 ≤ ${bound}`, ok: quantile(wall, 0.95) <= bound }) }
        }),
      },
    ]
  },
}
