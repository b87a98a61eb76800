import { IMPORTERS, importFrom } from '../formats/import/index.ts'
import { printReport } from '../formats/import/report.ts'
import type { Json } from '../model/field.ts'
import { agreeTo, confirmAll, listed, waitingFrom } from './confirm.ts'
import { actingAs, type Tool, type ToolContext } from './tool.ts'

/** The rules of a file bind after one yes: asked for on a terminal, else told with the command that says it. */
async function askForYes(context: ToolContext, source: string): Promise<string[]> {
  const { memory } = context
  const waiting = waitingFrom(memory, source)
  if (waiting.length === 0) return []
  const what = `${waiting.length} ${waiting.length === 1 ? 'rule' : 'rules'} of it`
  const question = [...listed(memory, waiting), `Should ${what} bind every session here?`].join('\n')
  if (context.by !== 'person' || !(await context.ask?.(question)))
    return [`${what} ${waiting.length === 1 ? 'binds' : 'bind'} nobody until a person says yes: ${confirmAll(memory)}`]
  const { batches } = agreeTo(memory, waiting, actingAs(context))
  return [`confirmed ${what}`, ...batches.map((batch) => `tidemark undo ${batch} takes it back`)]
}

export const importTool: Tool = {
  name: 'import',
  title: 'Import knowledge',
  about: `Takes in what is known elsewhere. A second run of the same source writes nothing, and what was changed here stays.
${IMPORTERS.map((i) => `  ${i.name}: ${i.about}`).join('\n')}`,
  example: 'tidemark import claude-md CLAUDE.md',
  params: {
    format: {
      type: 'text',
      about: 'what the source is',
      required: true,
      place: 0,
      choices: IMPORTERS.map((i) => i.name),
    },
    path: { type: 'text', about: 'the file or directory, from the working directory', required: true, place: 1 },
    standing: {
      type: 'text',
      about: 'proposed: somebody has to confirm what is new; confirmed: the yes to its rules, which else are proposed',
      choices: ['proposed', 'confirmed'],
    },
  },
  readOnly: false,
  local: true,
  async run(context, args) {
    const report = await importFrom(context.memory, String(args.format), String(args.path), {
      root: context.project.root,
      ...actingAs(context),
      ...(args.standing === 'confirmed' ? {} : { by: 'agent' as const }), // a file is nobody's yes
      ...(args.standing === 'proposed' ? { standing: 'proposed' as const } : {}),
      ...(context.progress ? { progress: (line: string) => context.progress?.(line) } : {}),
    })
    const asked = await askForYes(context, report.source)
    return { text: [printReport(report), ...asked].join('\n'), json: report as unknown as Json }
  },
}
