import type { Source } from '../discover/knowledge.ts'
import { UserError } from '../errors.ts'
import type { Memory } from '../memory.ts'
import type { Project } from '../store/project.ts'
import type { Tool } from './tool.ts'

export const discover: Tool = {
  name: 'discover',
  title: 'Query knowledge',
  about: `Asks the project's knowledge in a small, sandboxed Scheme (read-only). Prints one value per form; an error is a value (error "…").
Start with (kinds); then e.g. (get-decisions :limit 10), (get-decision "use-sqlite"), (search-knowledge "token refresh" :limit 5), (get-relationships-from "use-sqlite"), (filter (lambda (p) (> (@ p :confidence) 0.8)) (get-principles)), (map :name (get-patterns)), (get-file-understanding "src/auth.ts"), (as-of "2026-08-01" (get-decisions)). Every kind has (get-<plural>) and (get-<kind> "name"); lists are newest first and take :limit :since :topic. (verbs), (describe "decision") and (help "filter") explain verbs, fields and functions. With a session, definitions persist between calls.`,
  example: `tidemark discover '(get-decisions :limit 3)'`,
  params: {
    expr: { type: 'text', about: 'one or more expressions', required: true, place: 'rest' },
    'as-of': { type: 'text', about: 'read everything as of a moment, e.g. 2026-08-01' },
  },
  mcp: true,
  readOnly: true,
  async run({ memory, project, session }, args) {
    const asOf = args['as-of']
    if (typeof args.expr !== 'string')
      throw new UserError('bad-argument', 'expr is not text', "give an expression such as '(kinds)'")
    // the evaluator is loaded when it is asked for: a server's first answer does not wait for it
    const { discover: evaluate } = await import('../discover/discover.ts')
    const functions =
      args.expr.includes('recall') || args.expr.includes('help') ? await recalling(memory, project, session) : undefined
    const values = evaluate(memory, args.expr, {
      ...(session ? { session } : {}),
      ...(typeof asOf === 'string' ? { asOf } : {}),
      ...(functions ? { functions } : {}),
    })
    return { text: values.join('\n'), json: { values } }
  },
}

/** Recall is loaded for the programs that may call it. */
async function recalling(memory: Memory, project: Project, session: string | undefined) {
  const [{ recallFunctions }, { recallerOf }] = await Promise.all([
    import('../discover/recall.ts'),
    import('../recall/recall.ts'),
  ])
  const recaller = recallerOf(memory, project)
  recaller.prepareNow()
  return (source: Source) => recallFunctions(source, recaller, session)
}
