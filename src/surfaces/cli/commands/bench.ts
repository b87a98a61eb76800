import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../../errors.ts'
import type { Evaluation } from '../../../evaluate/evaluate.ts'
import type { Summary } from '../../../evaluate/metrics.ts'
import type { Json } from '../../../model/field.ts'
import { nearest } from '../../../model/names.ts'
import { EMBEDDERS } from '../../../recall/config.ts'
import type { Command } from '../command.ts'

type EmbedderName = (typeof EMBEDDERS)[number]

const isEmbedder = (name: string): name is EmbedderName => (EMBEDDERS as readonly string[]).includes(name)

const COLUMNS = ['R@1', 'R@5', 'R@10', 'any@5', 'MRR', 'nDCG@10'] as const satisfies readonly (keyof Summary)[]

const misused = (message: string): UsageError =>
  new UsageError(message, 'tidemark bench recall FILE… --embedder static; `tidemark bench --help` tells more')

/** One data set as a table: the whole first, then its categories. */
function tableOf({ name, embedder, queries, overall, categories, without = {} }: Evaluation): string {
  const rows = [
    ['all', overall] as const,
    ...Object.entries(categories),
    ...Object.entries(without).map(([rule, s]) => [`all, without ${rule}`, s] as const),
  ]
  const width = Math.max(...rows.map(([what]) => what.length))
  const line = (what: string, cells: readonly string[]) =>
    `  ${what.padEnd(width)}  ${cells.map((c) => c.padStart(7)).join('  ')}`
  return [
    `${name}: ${queries} queries, embedder ${embedder}`,
    line('', [...COLUMNS, 'p50 ms', 'p95 ms']),
    ...rows.map(([what, s]) =>
      line(what, [...COLUMNS.map((c) => (s[c] * 100).toFixed(1)), s.p50_ms.toFixed(1), s.p95_ms.toFixed(1)]),
    ),
  ].join('\n')
}

/** A directory that is gone afterwards, also when the process is told to stop. */
async function inTempFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  let folder: string | undefined
  const clear = () => folder !== undefined && rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  const stop = (signal: NodeJS.Signals) => {
    clear()
    process.exit(128 + constants.signals[signal])
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  // listening comes first: whoever sees the directory may already say stop
  for (const signal of signals) process.on(signal, stop)
  try {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemark-bench-')))
    return await work(folder)
  } finally {
    for (const signal of signals) process.off(signal, stop)
    clear()
  }
}

export const bench: Command = {
  name: 'bench',
  about:
    'measures recall on data sets: each group goes into a fresh store of its own as an import would write it, every question is asked, and the answers are judged\n\nFILE is JSON, plain or gzip: {name, unit: "doc"|"session", groups: [{id, docs: [{id, text, session, speaker?, date?, project?}],\nqueries: [{text, gold: [id…], category}]}]}. R@k is the share of the gold ids among the first k, any@5 whether one is among the first five;\nMRR and nDCG@10 are as usual, with binary relevance. Fractions in --json, percent in the table; milliseconds of each call of recall.',
  usage: 'recall FILE…',
  example: 'tidemark bench recall questions.json.gz --embedder none --json',
  flags: {
    embedder: {
      type: 'text',
      value: EMBEDDERS.join('|'),
      about: 'what makes the vectors (default: static, which is built in)',
    },
    ablate: { type: 'flag', about: 'ask everything again without each rule of ranking, and show what it brings' },
  },
  async run(call) {
    const [what, ...files] = call.place
    if (what !== 'recall')
      throw misused(what === undefined ? 'say what to measure: recall' : `there is no bench "${what}"; there is recall`)
    if (files.length === 0) throw misused('FILE is missing: name at least one data set')
    const embedder = String(call.flags.embedder ?? 'static')
    if (!isEmbedder(embedder)) {
      const near = nearest(embedder, EMBEDDERS)
      const advice = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are ${EMBEDDERS.join(', ')}`
      throw misused(`there is no embedder "${embedder}"; ${advice}`)
    }
    const ablate = call.flags.ablate === true
    const { readDataSet } = await import('../../../evaluate/dataset.ts')
    const { evaluate } = await import('../../../evaluate/evaluate.ts')
    const sets = files.map(readDataSet) // all are read before any is run: the last may be malformed
    const note = (line: string) => {
      call.progress()
      call.err(line)
    }
    const datasets: Evaluation[] = []
    for (const [i, data] of sets.entries()) {
      const done = await inTempFolder((folder) =>
        evaluate(data, { embedder, ablate, folder, progress: call.progress, note }),
      )
      call.progress()
      call.out(`${i > 0 ? '\n' : ''}${tableOf(done)}`)
      datasets.push(done)
    }
    return { json: { datasets: datasets as unknown as Json } }
  },
}
