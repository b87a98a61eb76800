import { basename, dirname, join, resolve } from 'node:path'
import { realPath } from '../../../base/files.ts'
import type { Memory } from '../../../engine/memory.ts'
import { printDelivery } from '../../../engine/replication/ingest.ts'
import { bridgesIn, linkMentions, proposeLinks } from '../../../find/graph/mentions.ts'
import { defined } from '../../../model/object.ts'
import { formatNamed } from '../format.ts'
import { add } from './add.ts'
import { basicMemory } from './basic-memory.ts'
import { beads } from './beads.ts'
import { claudeMd } from './claude-md.ts'
import { claudeMem } from './claude-mem.ts'
import { decisions } from './decisions.ts'
import { docs } from './docs.ts'
import { labelOf, mustBeInside } from './files.ts'
import type { ImportOptions } from './import-run.ts'
import { json } from './json.ts'
import { pages } from './knowledge-pages.ts'
import { mcpMemory } from './mcp-memory.ts'
import { notes } from './notes.ts'
import type { ImportReport } from './report.ts'
import { runImport } from './run.ts'
import type { Importer } from './types.ts'
import { yjs } from './yjs.ts'

export const IMPORTERS: readonly Importer[] = [
  add, mcpMemory, claudeMd, docs, decisions, basicMemory, claudeMem, beads, notes, json, pages, yjs,
] // biome-ignore format: a list to read at a glance

/** Reads a source and writes what it says into the memory; a source that has not changed writes nothing. */
export function importFrom(
  memory: Memory,
  format: string,
  path: string,
  options: Omit<ImportOptions, 'source'> & { root: string; source?: string },
): ImportReport {
  const { root, source, ...rest } = options
  const importer = formatNamed(IMPORTERS, format)
  mustBeInside(resolve(path), resolve(root))
  const base = realPath(resolve(root))
  // a link to a file keeps its own name, for that is the one clients load it by
  const at = join(realPath(dirname(resolve(path))), basename(resolve(path)))
  const reading = importer.read(at, base)
  const given = { ...rest, root: base, source: source ?? `import ${format} ${reading.from ?? labelOf(at, base)}` }
  // the history of this very project is a replica's: what it says binds nobody either
  const isOurs = reading.log && reading.from === memory.projectId
  const history = isOurs ? memory.applyUpdates(printDelivery(memory.projectId, reading.log!)).applied : 0
  const report = runImport(memory, reading, given)
  if (history > 0) report.history = history
  if (importer.linksNames) linkNames(memory, report, given)
  return report
}

/** Documents name what is known; what was lived is a case of what they explain. */
function linkNames(memory: Memory, report: ImportReport, { source, session, agent, by }: ImportOptions): void {
  const act = defined({ source, session, agent, by })
  const mentions = linkMentions(memory, act)
  const bridges = proposeLinks(memory, bridgesIn(memory.reader), act)
  report.batches.push(...mentions.batches, ...bridges.batches)
  report.named = { mentions: mentions.links, proposed: bridges.made.length }
}
