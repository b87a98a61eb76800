// Known-item search: bodies of commits are recorded, their subjects are asked, and the body of the same commit is the
// one answer. Beside it, in the same run, plain FTS5 over the same bodies. bench/commits.ts says where commits come from.
import { DatabaseSync } from 'node:sqlite'
import { type Corpus, corpus } from './commits.ts'
import { judge, summarize } from './evaluate/metrics.ts'
import { openWith } from './recalling.ts'
import type { Bench, Row } from './table.ts'

const LIMIT = 50
/** With fewer commits, one of them is a whole point: measured, not judged. */
const ENOUGH = 500

/** Asks every subject; `found` gives places in the corpus, best first. */
async function measure({ commits }: Corpus, found: (subject: string) => Promise<number[]> | number[]) {
  const asked = []
  for (const [i, { subject }] of commits.entries()) {
    const since = performance.now()
    const places = await found(subject)
    asked.push({ ...judge([...new Set(places.map(String))], new Set([String(i)])), ms: performance.now() - since })
  }
  return summarize(asked)
}

/** SQLite's full text search as one would write it down: stems, any of the words, BM25. */
export function plainSearch(bodies: readonly string[]): (question: string) => number[] {
  const db = new DatabaseSync(':memory:')
  db.exec(`CREATE VIRTUAL TABLE t USING fts5(body, tokenize = 'porter unicode61')`)
  const insert = db.prepare('INSERT INTO t (rowid, body) VALUES (?, ?)')
  for (const [i, body] of bodies.entries()) insert.run(i + 1, body)
  const search = db.prepare(`SELECT rowid FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ${LIMIT}`)
  return (question) => {
    const words = question.match(/[\p{L}\p{N}_]+/gu) ?? []
    if (words.length === 0) return []
    return search.all(words.map((w) => `"${w}"`).join(' OR ')).map((r) => (r.rowid as number) - 1)
  }
}

async function throughRecall(of: Corpus, embedder: 'none' | 'static') {
  const open = openWith(embedder)
  try {
    const places = new Map<string, number>()
    for (let i = 0; i < of.commits.length; i += 50) {
      const batch = of.commits.slice(i, i + 50).map(({ body }) => ['record-chunk', { content: body }] as const)
      for (const [j, { id }] of open.memory.act(batch, { redact: true }).results.entries()) places.set(id, i + j)
    }
    await open.settled()
    return await measure(of, async (subject) => {
      const { results } = await open.library.recall(subject, { limit: LIMIT })
      return results.flatMap((r) => [r.id, ...r.similar]).flatMap((id) => places.get(id) ?? [])
    })
  } finally {
    open.close()
  }
}

export const bench: Bench = {
  name: 'known-item',
  about: 'the body of a commit is looked for by its subject; plain FTS5 in the same run',
  async run() {
    const of = corpus()
    const plain = await measure(of, plainSearch(of.commits.map((c) => c.body)))
    const rows: Row[] = []
    const row = (what: string, q: typeof plain): Row => ({
      what,
      cells: [...([q['R@1'], q['R@10'], q.MRR] as const).map((v) => (v * 100).toFixed(1)), q.p50_ms, q.p95_ms],
    })
    rows.push(row('FTS5, porter unicode61, OR, BM25', plain))
    for (const embedder of ['none', 'static'] as const) {
      const ours = await throughRecall(of, embedder)
      rows.push(row(`recall, embedder ${embedder}`, ours))
      if (embedder !== 'static') continue
      for (const [key, bound] of [
        ['R@1', 5],
        ['R@10', 2],
      ] as const) {
        const points = (ours[key] - plain[key]) * 100
        const judged = of.commits.length >= ENOUGH ? { bound: `≥ +${bound} points`, ok: points >= bound } : {}
        rows.push({ what: `${key}, recall above FTS5`, cells: [points.toFixed(1), '', '', '', ''], ...judged })
      }
    }
    return [
      {
        title: `${of.commits.length} commits of ${of.name}, percent and ms per question`,
        columns: ['R@1', 'R@10', 'MRR', 'p50 ms', 'p95 ms'],
        rows,
        notes: [
          'TIDEMARK_COMMITS=FILE or TIDEMARK_REPO=DIR choose other commits; bench/commits.ts says how a file is made',
        ],
      },
    ]
  },
}
