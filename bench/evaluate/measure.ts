// What `tidemark bench recall` does in a clone, which src/surfaces/cli/commands/bench.ts hands on.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../src/base/errors.ts'
import { EMBEDDERS } from '../../src/find/recall/config.ts'
import type { Json } from '../../src/model/field.ts'
import { didYouMean } from '../../src/model/names.ts'
import type { CommandCall } from '../../src/surfaces/cli/command.ts'
import { readDataSet } from './dataset.ts'
import { type Evaluation, evaluate } from './evaluate.ts'
import type { Summary } from './metrics.ts'

const COLUMNS = ['R@1', 'R@5', 'R@10', 'any@5', 'MRR', 'nDCG@10'] as const satisfies readonly (keyof Summary)[]

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

const misused = (message: string): UsageError =>
  new UsageError(message, 'tidemark bench recall FILE… --embedder static; `tidemark bench --help` tells more')

export async function measure(call: CommandCall): Promise<{ json: Json }> {
  const [what, ...files] = call.place
  if (what !== 'recall')
    throw misused(what === undefined ? 'say what to measure: recall' : `there is no bench "${what}"; there is recall`)
  if (files.length === 0) throw misused('FILE is missing: name at least one data set')
  const given = String(call.flags.embedder ?? 'static')
  const embedder = EMBEDDERS.find((e) => e === given)
  if (embedder === undefined)
    throw misused(
      `there is no embedder "${given}"; ${didYouMean(given, EMBEDDERS, `there are ${EMBEDDERS.join(', ')}`)}`,
    )
  const ablate = call.flags.ablate === true
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
}
