import { UserError } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import { lookAgain } from '../../find/code/look.ts'
import type { Source } from '../../project/discover/knowledge.ts'
import { COMMAND_LINE } from '../../work/coordination/caller.ts'
import { AS_OF, momentAsked } from './moment.ts'
import { defineTool } from './tool.ts'

export const discover = defineTool({
  name: 'discover',
  title: 'Query knowledge',
  about: `Queries the knowledge in a small, sandboxed Scheme (read-only), one value per form.
(get-decisions :limit 10), (get-decision "use-sqlite"), (search-knowledge "token refresh"), (get-relationships-from "use-sqlite"), (filter (lambda (p) (> (@ p :confidence) 0.8)) (get-principles)), (as-of "2026-08-01" (get-decisions)). Each kind has (get-<plural>), newest first, with :limit :since :topic. (kinds), (verbs), (describe "decision"), (help "filter") tell the rest.`,
  example: `tidemark discover '(get-decisions :limit 3)'`,
  params: {
    expr: { type: 'text', about: 'expressions', required: true, place: 'rest' },
    budget: { type: 'number', least: 1, about: 'tokens of a list (agents: 800); (get "NAME") tells one whole' },
    'as-of': { ...AS_OF, rare: true },
  },
  readOnly: true,
  async run(context, args) {
    await lookAgain(context.memory, context.project)
    const { memory, project, session } = context
    const said = args['as-of']
    const asOf = said === undefined ? undefined : new Date(await momentAsked(context, said)).toISOString()
    if (typeof args.expr !== 'string')
      throw new UserError('bad-argument', 'expr is not text', "give an expression such as '(kinds)'")
    // the evaluator is loaded when it is asked for: a server's first answer does not wait for it
    const { discover: evaluate } = await import('../../project/discover/discover.ts')
    const recall = /recall|what-if|help/.test(args.expr) ? await recalling(memory, project, session) : undefined
    const code = /explain|stale|help/.test(args.expr) ? await reading(memory, project, args.expr) : undefined
    const functions = (source: Source) => ({ ...recall?.(source), ...code?.(source) })
    const tokens = args.budget ?? ([undefined, COMMAND_LINE].includes(context.agent) ? undefined : LIST_TOKENS)
    const budget = tokens === undefined ? {} : { listChars: tokens * CHARACTERS_PER_TOKEN }
    const values = evaluate(memory, args.expr, { session, asOf, project, functions, budget })
    return { text: values.join('\n'), json: { values } }
  },
})

/** What an agent reads of a list of entries unless it asks for more: each of them, the long ones shortened. */
const LIST_TOKENS = 800
const CHARACTERS_PER_TOKEN = 3.5

/** So is what reads the code; it is looked at first where a program asks about it. */
async function reading(memory: Memory, project: Project, expr: string) {
  const { codeFunctions } = await import('../../project/discover/code.ts')
  if (expr.includes('explain')) await (await import('../../find/code/scan.ts')).scan(memory, project)
  return (source: Source) => codeFunctions(memory, project, source)
}

/** Recall is loaded for the programs that may call it. */
async function recalling(memory: Memory, project: Project, session: string | undefined) {
  const [{ recallFunctions }, { whatIfFunctions }, { recallerOf }] = await Promise.all([
    import('../../project/discover/recall.ts'),
    import('../../project/discover/what-if.ts'),
    import('../../find/recall/recall.ts'),
  ])
  const recaller = recallerOf(memory, project)
  recaller.prepareNow()
  return (source: Source) => ({ ...recallFunctions(source, recaller, session), ...whatIfFunctions(memory, source) })
}
