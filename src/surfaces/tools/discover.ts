import { UserError } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Project } from '../../engine/store/project.ts'
import { lookAgain } from '../../find/code/look.ts'
import type { Source } from '../../project/discover/knowledge.ts'
import { AS_OF, momentAsked } from './moment.ts'
import { defineTool } from './tool.ts'

export const discover = defineTool({
  name: 'discover',
  title: 'Query knowledge',
  about: `Asks the project's knowledge in a small, sandboxed Scheme (read-only). Prints one value per form; an error is a value (error "…").
Start with (kinds); then e.g. (get-decisions :limit 10), (get-decision "use-sqlite"), (search-knowledge "token refresh" :limit 5), (get-relationships-from "use-sqlite"), (filter (lambda (p) (> (@ p :confidence) 0.8)) (get-principles)), (map :name (get-patterns)), (get-file-understanding "src/auth.ts"), (as-of "2026-08-01" (get-decisions)). Every kind has (get-<plural>) and (get-<kind> "name"); lists are newest first and take :limit :since :topic. (verbs), (describe "decision") and (help "filter") explain verbs, fields and functions. With a session, definitions persist between calls.`,
  example: `tidemark discover '(get-decisions :limit 3)'`,
  params: { expr: { type: 'text', about: 'one or more expressions', required: true, place: 'rest' }, 'as-of': AS_OF },
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
    const values = evaluate(memory, args.expr, { session, asOf, project, functions })
    return { text: values.join('\n'), json: { values } }
  },
})

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
