// How good recall is: a data set is imported into stores of its own, its questions are asked, and the answers are judged.
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { UserError } from '../../src/base/errors.ts'
import type { Memory } from '../../src/engine/memory.ts'
import { createProject } from '../../src/engine/store/project.ts'
import type { RecallConfig } from '../../src/find/recall/config.ts'
import type { Recalled } from '../../src/find/recall/types.ts'
import { openProject } from '../../src/project/open.ts'
import { asProjectMemory, type ProjectMemory } from '../../src/surfaces/library.ts'
import { runImport } from '../../src/travel/formats/import/run.ts'
import type { DataSet, Group } from './dataset.ts'
import { readDocuments, type SourceDocument } from './documents.ts'
import { type Asked, judge, type Summary, summarize } from './metrics.ts'
import { OFF, type Rule, without } from './rules.ts'

/** Enough that ten documents come of it where several pieces of one stand among the results. */
const LIMIT = 50
/** How many documents are written before a terminal or a signal gets a turn. */
const SLICE = 500

export interface Evaluation {
  name: string
  embedder: string
  queries: number
  overall: Summary
  categories: { [category: string]: Summary }
  /** The whole without each rule of ranking, where that is wanted. */
  without?: { [rule: string]: Summary }
}

export interface EvaluateOptions {
  embedder: RecallConfig['embedder']['use']
  /** Whether everything is asked again without each rule. */
  ablate: boolean
  /** An empty directory for the stores; what is made in it stays there. */
  folder: string
  /** What is being done, as a line that the next one replaces. */
  progress(line: string): void
  /** What the person who runs it should know of the result. */
  note(line: string): void
}

/** Each document or session once, at its best place; what is folded into a result stands right behind it. */
function documentsOf(
  results: readonly Pick<Recalled, 'id' | 'similar'>[],
  owners: ReadonlyMap<string, SourceDocument>,
  unit: DataSet['unit'],
): string[] {
  const ids = results.flatMap(({ id, similar }) =>
    [id, ...similar].flatMap((chunk) => {
      const doc = owners.get(chunk)
      return doc ? [unit === 'session' ? doc.session! : doc.id] : []
    }),
  )
  return [...new Set(ids)]
}

/** Loads every group into a store of its own through the import path, asks its questions through recall, and judges. */
export async function evaluate(data: DataSet, options: EvaluateOptions): Promise<Evaluation> {
  for (const line of data.notes) options.note(`${data.name}: ${line}`)
  const all: { category: string; asked: Asked }[] = []
  const withoutRule = new Map<Rule, Asked[]>()
  const took = { load: 0, index: 0 }
  for (const [i, group] of data.groups.entries()) {
    const label = `${data.name}, group ${i + 1} of ${data.groups.length}`
    const project = createProject(join(options.folder, `group-${i}`), {
      name: data.name,
      persistencePath: 'store', // not where the environment says
    }).project
    const memory = openProject(project, { unlisted: true })
    const library = asProjectMemory(memory, project, { recall: { embedder: { use: options.embedder } } })
    try {
      const told: EvaluateOptions = { ...options, progress: (line) => options.progress(`${label}: ${line}`) }
      const start = performance.now()
      const owners = await load(memory, `${data.name}/${group.id}`, group, told)
      const loaded = performance.now()
      await library.index((left) => told.progress(`${left} vectors to make`))
      took.load += loaded - start
      took.index += performance.now() - loaded
      const asked = await ask(library, group, owners, data.unit, told)
      for (const [q, a] of asked.entries()) all.push({ category: group.queries[q]!.category, asked: a })
      for (const rule of options.ablate ? (Object.keys(OFF) as Rule[]) : []) {
        const again = await without(rule, () => ask(library, group, owners, data.unit, told))
        withoutRule.set(rule, [...(withoutRule.get(rule) ?? []), ...again])
      }
    } finally {
      library.close()
    }
  }
  const docs = data.groups.reduce((n, g) => n + g.docs.length, 0)
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
  options.note(`${data.name}: ${docs} documents written in ${seconds(took.load)}, indexed in ${seconds(took.index)}`)
  const byCategory = Map.groupBy(all, (a) => a.category)
  return {
    name: data.name,
    embedder: options.embedder,
    queries: all.length,
    overall: summarize(all.map((a) => a.asked)),
    categories: Object.fromEntries([...byCategory].map(([name, of]) => [name, summarize(of.map((a) => a.asked))])),
    ...(options.ablate
      ? { without: Object.fromEntries([...withoutRule].map(([rule, asked]) => [rule, summarize(asked)])) }
      : {}),
  }
}

/** Writes a group's documents; returns whose the chunks are, by id. */
async function load(
  memory: Memory,
  source: string,
  group: Group,
  told: EvaluateOptions,
): Promise<ReadonlyMap<string, SourceDocument>> {
  const { reading, owners } = readDocuments(source, group.docs)
  const left = { redacted: reading.redacted!.length, unplaced: reading.unplaced.length }
  for (let at = 0; at < reading.items.length; at += SLICE) {
    told.progress(`${at} of ${reading.items.length} pieces written`)
    const slice = { ...reading, items: reading.items.slice(at, at + SLICE), unplaced: [], redacted: [] }
    const report = runImport(memory, slice, { source: `import ${source}` })
    left.redacted += report.redacted.length
    left.unplaced += report.unplaced.length
    await turn()
  }
  if (left.redacted > 0) told.note(`${source}: ${left.redacted} texts that look like secrets are redacted`)
  if (left.unplaced > 0) told.note(`${source}: ${left.unplaced} documents hold nothing that may be kept`)
  const byId = new Map<string, SourceDocument>()
  for (const e of memory.reader.list('chunk', { limit: reading.items.length + 1 })) {
    const owner = owners[e.fields.position as number]
    if (owner) byId.set(e.id, owner)
  }
  return byId
}

async function ask(
  library: ProjectMemory,
  group: Group,
  owners: ReadonlyMap<string, SourceDocument>,
  unit: DataSet['unit'],
  told: EvaluateOptions,
): Promise<Asked[]> {
  const out: Asked[] = []
  for (const [i, query] of group.queries.entries()) {
    if (i % 10 === 0) {
      told.progress(`${i} of ${group.queries.length} questions asked`)
      await turn()
    }
    const start = performance.now()
    const results = await answers(library, query.text, told)
    const ms = performance.now() - start
    out.push({ ...judge(documentsOf(results, owners, unit), query.gold), ms })
  }
  return out
}

/** A question that recall refuses, an empty one say, finds nothing. */
async function answers(library: ProjectMemory, question: string, told: EvaluateOptions): Promise<readonly Recalled[]> {
  try {
    return (await library.recall(question, { limit: LIMIT })).results
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    told.note(`"${question.slice(0, 60).toWellFormed()}" was refused: ${error.message}`)
    return []
  }
}
