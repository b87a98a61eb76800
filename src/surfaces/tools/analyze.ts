import { analyze as analyzed } from '../../find/code/analysis/propose.ts'
import type { Json } from '../../model/field.ts'
import { oneLine } from './format.ts'
import { actingAs, defineTool, type Output } from './tool.ts'

export const analyze = defineTool({
  name: 'analyze',
  title: 'Analyze the code',
  about: `proposes patterns, conventions and principles that recur in the code and in what was decided. It needs no model.
Nothing is applied before somebody confirms it, and nothing is proposed twice.`,
  example: 'tidemark analyze --dry-run',
  params: {
    limit: { type: 'number', least: 1, about: 'so many proposals at most', default: 20 },
    'dry-run': { type: 'flag', about: 'tell what would be proposed' },
  },
  local: true,
  async run(context, args): Promise<Output> {
    const dryRun = args['dry-run'] === true
    const { proposed, more, known, batches } = await analyzed(context.memory, context.project.root, {
      ...{ ...actingAs(context), source: 'analyze', limit: Number(args.limit ?? 20), dryRun },
      ...{ progress: context.progress },
    })
    const json = { proposed, more, known, batches } as unknown as Json
    if (proposed.length === 0)
      return { text: known > 0 ? `nothing new: ${known} were proposed before` : 'nothing recurs often enough', json }
    const lines = proposed.map(({ args: said, evidence, confidence }) => {
      const what = said.description ?? said.fact
      return `  ${confidence.toFixed(2)}  ${oneLine(String(what), 120)}\n        ${oneLine(evidence, 160)}`
    })
    const head = `${dryRun ? 'would propose' : 'proposed'} ${proposed.length}${more > 0 ? ` of ${proposed.length + more}` : ''}:`
    return { text: [head, ...lines, ...(dryRun ? [] : ['tidemark review answers them'])].join('\n'), json }
  },
})
