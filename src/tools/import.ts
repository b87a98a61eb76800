import { IMPORTERS, importFrom } from '../imports/index.ts'
import { printReport } from '../imports/report.ts'
import type { Json } from '../schema/field.ts'
import { actingAs } from './act.ts'
import type { Tool } from './tool.ts'

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
      about: 'proposed: somebody has to confirm what is new',
      choices: ['proposed', 'confirmed'],
    },
  },
  readOnly: false,
  local: true,
  async run(context, args) {
    const report = await importFrom(context.memory, String(args.format), String(args.path), {
      root: context.project.root,
      ...actingAs(context),
      ...(args.standing === 'proposed' ? { standing: 'proposed' as const } : {}),
      ...(context.progress ? { progress: (line: string) => context.progress?.(line) } : {}),
    })
    return { text: printReport(report), json: report as unknown as Json }
  },
}
