import { UserError } from '../errors.ts'
import type { Memory } from '../memory.ts'
import { openProject } from '../open.ts'
import { type Card, formsOf } from '../recall/card.ts'
import { pack } from '../recall/pack.ts'
import { otherProjects } from '../recall/projects.ts'
import { explanation, Recaller } from '../recall/recall.ts'
import { countTokens } from '../recall/tokens.ts'
import type { Recalled, RecallOptions, RecallResult } from '../recall/types.ts'
import type { ToolContext } from './tool.ts'

interface Found {
  readonly result: Recalled & { readonly project?: string }
  readonly card: Card
}

/**
 * Asks other projects of the user as well. What they know counts as recorded elsewhere; where the work stands is known
 * of this one alone, so that their items are looked at without task and goals.
 */
export async function recallAcross(
  context: ToolContext,
  here: Recaller,
  question: string,
  options: RecallOptions,
  wanted: 'all' | readonly string[],
): Promise<RecallResult> {
  const others = otherProjects(context.project, wanted, undefined, context.served)
  const { budget = here.config.budget ?? undefined, explain = options.preset === 'debug', ...unpacked } = options
  const all = options.all ?? options.preset === 'debug'
  const own = await here.ask(question, unpacked)
  const registry = context.memory.registry()
  const cards = (r: Recalled, remark: string): Card => {
    const forms = formsOf(r, registry)
    const why = explain ? explanation(r) : ''
    return { card: forms.card + remark + why, line: forms.line + remark + why }
  }
  const found: Found[] = own.results.map((result) => ({ result, card: cards(result, '') }))
  const notes = [...own.notes]
  let omitted = own.omitted
  const { scope: _scope, preset: _preset, goals: _goals, task, session, kinds, ...elsewhere } = unpacked
  const standing = task !== undefined || context.memory.place(session).task !== undefined
  const weight = standing && options.scope !== 'macro' ? here.config.weights.elsewhere : 1
  for (const project of others) {
    context.progress?.(`asking ${project.name}`)
    let memory: Memory
    try {
      memory = openProject(project, { unlisted: true })
    } catch (error) {
      if (!(error instanceof UserError) || wanted !== 'all') throw error
      notes.push(`${project.name}: ${error.message}; ${error.hint}`)
      continue
    }
    const recaller = new Recaller(memory, project, { limit: here.config.limit })
    try {
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
    } finally {
      recaller.close()
      memory.close()
    }
  }
  found.sort((a, b) => b.result.score - a.result.score || (a.result.id < b.result.id ? -1 : 1))
  const packed = pack(
    found.map((f) => f.card),
    {
      limit: options.limit ?? here.config.limit,
      found: found.length + omitted,
      ...(budget === undefined ? {} : { budget }),
    },
    countTokens,
  )
  return {
    results: packed.shown.map(({ index, form }) => ({ ...found[index]!.result, text: found[index]!.card[form] })),
    omitted: packed.omitted,
    notes,
    text: packed.text,
  }
}
