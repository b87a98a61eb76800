import { UserError } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import { vouchedFor } from '../../engine/replication/vouched.ts'
import { explanation } from '../../find/recall/answer.ts'
import { type Card, formsOf } from '../../find/recall/card.ts'
import { bindingRules, vocabularyOf } from '../../find/recall/contradictions.ts'
import { besideNearer, libraryWeight, type Statement } from '../../find/recall/overridden.ts'
import { pack } from '../../find/recall/pack.ts'
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

interface Found {
  readonly result: Recalled & Elsewhere
  readonly card: Card
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
  const others = wanted.length === 0 ? [] : otherProjects(context.project, wanted, undefined, context.served)
  const { budget = here.config.budget ?? undefined, explain = options.preset === 'debug', ...unpacked } = options
  const all = options.all ?? options.preset === 'debug'
  const own = await here.ask(question, unpacked)
  const registry = context.memory.registry()
  const cards = (r: Recalled, remark: string): Card => {
    const forms = formsOf(r, registry)
    const why = explain ? explanation(r) : ''
    return { card: forms.card + remark + why, line: forms.line + remark + why }
  }
  const vouched = vouchedFor(
    context.memory,
    own.results.map((r) => r.id),
  )
  const found: Found[] = own.results.map((result) =>
    vouched.has(result.id)
      ? { result, card: cards(result, '') }
      : { result: { ...result, tier: 'team' }, card: cards(result, ' #| team: from others, unverified here |#') },
  )
  const notes = [...own.notes]
  let omitted = own.omitted
  const { scope: _scope, preset: _preset, goals: _goals, task, session, kinds, ...elsewhere } = unpacked
  const standing = task !== undefined || context.memory.place(session).task !== undefined
  const weight = standing && options.scope !== 'macro' ? here.config.weights.elsewhere : 1
  for (const project of others) {
    context.progress?.(`asking ${project.name}`)
    let opened: Memory
    try {
      opened = openProject(project, { unlisted: true })
    } catch (error) {
      if (!(error instanceof UserError) || wanted !== 'all') throw error
      notes.push(`${project.name}: ${error.message}; ${error.hint}`)
      continue
    }
    using memory = opened
    using recaller = new Recaller(memory, project, { limit: here.config.limit })
    // a kind of this project's own is none that another one must know
    const known = kinds?.filter((k) => memory.registry().kind(k) ?? memory.registry().kindByPlural(k))
    if (known?.length === 0) continue
    const theirs = await recaller.ask(question, { ...elsewhere, all, ...(known ? { kinds: known } : {}) })
    omitted += theirs.omitted
    notes.push(...theirs.notes.map((n) => `${project.name}: ${n}`))
    for (const r of theirs.results) {
      const parts = { ...r.parts, proximity: weight }
      const score = parts.relevance * parts.proximity * parts.recency * parts.importance
      const result = { ...r, parts, score, project: project.name, why: `${r.why}; in project ${project.name}` }
      found.push({ result, card: cards(result, ` #| in project ${project.name.replaceAll('|#', '| #')} |#`) })
    }
  }
  if (options.scope !== 'micro' && options.scope !== 'selected' && !context.served)
    omitted += await askWider(
      context,
      question,
      { ...elsewhere, all, ...(kinds ? { kinds } : {}) },
      found,
      notes,
      cards,
    )
  found.sort((a, b) => b.result.score - a.result.score || (a.result.id < b.result.id ? -1 : 1))
  const packed = pack(
    found.map((f) => f.card),
    {
      limit: options.limit ?? here.config.limit,
      found: found.length + omitted,
      ...(budget === undefined ? {} : { budget }),
    },
    estimateTokens,
  )
  return {
    results: packed.shown.map(({ index, form }) => ({ ...found[index]!.result, text: found[index]!.card[form] })),
    omitted: packed.omitted,
    notes,
    text: packed.text,
  }
}

/** Adds what the user's library knows. What is said here as well is not repeated; what this project contradicts is marked, and counts less. */
async function askWider(
  context: ToolContext,
  question: string,
  options: RecallOptions,
  found: Found[],
  notes: string[],
  cards: (r: Recalled, remark: string) => Card,
): Promise<number> {
  const nearer: Statement[] = [
    ...found.filter(({ result }) => result.tier === undefined && result.project === undefined).map((f) => f.result),
    ...bindingRules(context.memory),
  ]
  let omitted = 0
  const unread = await askLibrary(async (library) => {
    const registry = library.registry()
    const kinds = options.kinds?.filter((k) => registry.kind(k) ?? registry.kindByPlural(k))
    if (kinds?.length === 0) return
    using recaller = new Recaller(library, undefined)
    const theirs = await recaller.ask(question, { ...options, ...(kinds ? { kinds } : {}) })
    omitted = theirs.omitted
    const all = besideNearer(context.memory, theirs.results, nearer, vocabularyOf(context.project))
    for (const [n, r] of theirs.results.entries()) {
      const beside = all[n]!
      if ('same' in beside) continue
      const over = beside.by
      const score = r.score * libraryWeight(over !== undefined)
      const why = `${r.why}; of your library${over === undefined ? '' : `, overridden here by ${over}`}`
      const remark = `user tier: your library${over === undefined ? '' : `; overridden here by ${over}`}`
      const from = {
        tier: 'user',
        project: 'your library',
        ...(over === undefined ? {} : { overriddenBy: over }),
      } as const
      const result = { ...r, score, why, ...from }
      found.push({ result, card: cards(result, ` #| ${remark.replaceAll('|#', '| #')} |#`) })
    }
  })
  notes.push(...unread)
  return omitted
}
