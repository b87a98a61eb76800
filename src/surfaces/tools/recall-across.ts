import { type UserError, unlessRefused } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import { explanation } from '../../find/recall/answer.ts'
import { type Card, firstPiece, formsOf } from '../../find/recall/card.ts'
import type { RecallSettings } from '../../find/recall/config.ts'
import { bindingRules, vocabularyOf } from '../../find/recall/contradictions.ts'
import { besideNearer, libraryWeight, type Statement } from '../../find/recall/overridden.ts'
import { packLonger } from '../../find/recall/pack.ts'
import { otherProjects } from '../../find/recall/projects.ts'
import { Recaller } from '../../find/recall/recall.ts'
import { estimateTokens } from '../../find/recall/token-estimate.ts'
import type { Recalled, RecallOptions, RecallResult } from '../../find/recall/types.ts'
import { openProject } from '../../project/open.ts'
import { askLibrary } from '../../project/tiers/library.ts'
import type { ToolContext } from './tool.ts'

/** A result with where it comes from, where that is not this project. */
export interface Elsewhere {
  /** The project, or the library. */
  readonly project?: string
  readonly tier?: 'team' | 'user'
  /** What this project says instead. */
  readonly overriddenBy?: string
}

/**
 * Asks other projects of the user and their library as well. What they know counts as recorded elsewhere; where the work stands is known
 * of this one alone, so that their items are looked at without task and goals.
 */
export async function recallAcross(
  context: ToolContext,
  here: Recaller,
  question: string,
  options: RecallOptions,
  wanted: 'all' | readonly string[],
): Promise<RecallResult> {
  const others = wanted.length === 0 ? [] : otherProjects(context.project, wanted, context.served)
  const { budget = here.config.budget ?? undefined, explain = options.preset === 'debug', ...unpacked } = options
  const all = options.all ?? options.preset === 'debug'
  const own = await here.ask(question, unpacked)
  const registry = context.memory.registry()
  type Found = { result: Recalled & Elsewhere; remark: string }
  const cardOf = ({ result, remark }: Found, most?: number): Card => {
    const forms = formsOf(result, registry, result.words, most)
    const why = explain ? explanation(result) : ''
    return { card: forms.card + remark + why, line: forms.line + remark + why }
  }
  const found = own.results.map(
    (result): Found =>
      result.isUnverified ? { result: { ...result, tier: 'team' }, remark: ' #| team |#' } : { result, remark: '' },
  )
  const notes = [...own.notes]
  let omitted = own.omitted
  const { scope: _scope, preset: _preset, goals: _goals, task, session, kinds, ...elsewhere } = unpacked
  const asked = { ...elsewhere, all, kinds }
  const standing = task !== undefined || context.memory.place(session).task !== undefined
  const weight = standing && options.scope !== 'macro' ? here.config.weights.elsewhere : 1
  for (const project of others) {
    context.progress?.(`asking ${project.name}`)
    const closed = (error: UserError): undefined => {
      if (wanted !== 'all') throw error
      notes.push(`${project.name}: ${error.message}; ${error.hint}`)
    }
    using memory = unlessRefused(() => openProject(project, { unlisted: true }), closed)
    if (!memory) continue
    const theirs = await askThere(memory, project, question, asked, { limit: here.config.limit })
    omitted += theirs.omitted
    notes.push(...theirs.notes.map((n) => `${project.name}: ${n}`))
    for (const r of theirs.results) {
      const parts = { ...r.parts, proximity: weight }
      const score = parts.relevance * parts.proximity * parts.recency * parts.importance
      const result = { ...r, parts, score, project: project.name, why: `${r.why}; in project ${project.name}` }
      found.push({ result, remark: ` #| in project ${project.name.replaceAll('|#', '| #')} |#` })
    }
  }
  // what the library says and is said here as well is not repeated; what this project contradicts is marked, and counts less
  const addLibrary = async (library: Memory): Promise<void> => {
    const theirs = await askThere(library, undefined, question, asked)
    omitted += theirs.omitted
    const own = found.filter(({ result }) => result.tier === undefined && result.project === undefined)
    const nearer: Statement[] = [...own.map((f) => f.result), ...bindingRules(context.memory)]
    const all = besideNearer(context.memory, theirs.results, nearer, vocabularyOf(context.project))
    for (const [n, r] of theirs.results.entries()) {
      const beside = all[n]!
      if ('same' in beside) continue
      const over = beside.by === undefined ? '' : `overridden here by ${beside.by}`
      const why = `${r.why}; of your library${over && `, ${over}`}`
      const from = { tier: 'user', project: 'your library', overriddenBy: beside.by } as const
      const result = { ...r, score: r.score * libraryWeight(over !== ''), why, ...from }
      const remark = `user tier: your library${over && `; ${over}`}`
      found.push({ result, remark: ` #| ${remark.replaceAll('|#', '| #')} |#` })
    }
  }
  if (options.scope !== 'micro' && options.scope !== 'selected' && !context.served)
    notes.push(...(await askLibrary(addLibrary)))
  found.sort((a, b) => b.result.score - a.result.score || (a.result.id < b.result.id ? -1 : 1))
  const limits = { limit: options.limit ?? here.config.limit, found: found.length + omitted, budget }
  const told = found.map((f) => cardOf(f))
  const longer = found[0] && cardOf(found[0], firstPiece(budget))
  const packed = packLonger(told, longer, limits, estimateTokens)
  return {
    results: packed.shown.map(({ index, form }) => ({
      ...found[index]!.result,
      text: (index === 0 && packed.isLonger ? longer! : told[index]!)[form],
    })),
    omitted: packed.omitted,
    notes,
    ...(own.unknown && { unknown: own.unknown }),
    text: packed.text,
  }
}

/** What another store answers. A kind of this project's own is none that it must know. */
async function askThere(
  memory: Memory,
  project: Project | undefined,
  question: string,
  { kinds, ...asked }: RecallOptions,
  settings?: RecallSettings,
): Promise<Pick<RecallResult, 'results' | 'omitted' | 'notes'>> {
  const registry = memory.registry()
  const known = kinds?.filter((k) => registry.kind(k) ?? registry.kindByPlural(k))
  if (known?.length === 0) return { results: [], omitted: 0, notes: [] }
  using recaller = new Recaller(memory, project, settings)
  return await recaller.ask(question, { ...asked, kinds: known })
}
