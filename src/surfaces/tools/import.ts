import { UsageError } from '../../base/errors.ts'
import type { Json } from '../../model/field.ts'
import { IMPORTERS, importFrom } from '../../travel/formats/import/index.ts'
import { printReport } from '../../travel/formats/import/report.ts'
import { agreeTo, confirmAll, listed, waitingFrom } from './confirm.ts'
import { undoLine } from './format.ts'
import { importTranscripts, SPECSTORY, TRANSCRIPTS } from './import-transcripts.ts'
import { actingAs, defineTool, type ToolContext } from './tool.ts'

/** The rules of a file bind after one yes: asked for on a terminal, else told with the command that says it. */
async function askForYes(context: ToolContext, source: string): Promise<string[]> {
  const { memory } = context
  const all = waitingFrom(memory, source)
  const waiting = all.filter(({ kind }) => kind === 'proposal' || memory.registry().kind(kind)?.binding)
  if (waiting.length === 0) return all.length > 0 ? [`${all.length} proposed: tidemark review`] : []
  const what = `${waiting.length} ${waiting.length === 1 ? 'rule' : 'rules'} of it`
  const question = [...listed(memory, waiting), `Should ${what} bind every session here?`].join('\n')
  if (context.by !== 'person' || !(await context.ask?.(question)))
    return [`${what} ${waiting.length === 1 ? 'binds' : 'bind'} nobody until a person says yes: ${confirmAll(memory)}`]
  const { batches } = agreeTo(memory, waiting, actingAs(context))
  return [`confirmed ${what}`, ...batches.map((batch) => undoLine(batch))]
}

const SESSIONS = [TRANSCRIPTS, SPECSTORY]
const FORMATS = [...IMPORTERS, ...SESSIONS]

export const importTool = defineTool({
  name: 'import',
  title: 'Import knowledge',
  about: `Takes in what is known elsewhere. A second run of the same source writes nothing, and what was changed here stays.
${FORMATS.map((i) => `  ${i.name}: ${i.about}`).join('\n')}`,
  example: 'tidemark import claude-md CLAUDE.md',
  params: {
    format: {
      type: 'text',
      about: 'what the source is',
      required: true,
      place: 0,
      choices: FORMATS.map((i) => i.name),
    },
    path: {
      type: 'text',
      about: 'the file or directory, from the working directory; transcripts and specstory are found without one',
      place: 1,
    },
    standing: {
      type: 'text',
      about: 'proposed: somebody has to confirm what is new; confirmed: the yes to its rules, which else are proposed',
      choices: ['proposed', 'confirmed'],
    },
    since: { type: 'text', about: 'of transcripts what was said since, e.g. 2026-11-01 or "last week"' },
    'dry-run': { type: 'flag', about: 'say what would be written, write nothing' },
  },
  readOnly: false,
  local: true,
  async run(context, args) {
    const { memory } = context
    const { format, path, since } = args
    const dryRun = args['dry-run'] === true
    const isSessions = SESSIONS.some((f) => f.name === format)
    if (since !== undefined && !isSessions)
      throw new UsageError('--since is for transcripts', `tidemark import ${TRANSCRIPTS.name} --since ${since}`)
    if (path === undefined && !isSessions)
      throw new UsageError(`${format} needs the path of what is to be read`, `tidemark import ${format} PATH`)
    const options = {
      root: context.project.root,
      ...actingAs(context),
      ...(args.standing !== 'confirmed' && { by: 'agent' as const }), // a file is nobody's yes
      ...(args.standing === 'proposed' && { standing: args.standing }),
      ...(context.progress && { progress: context.progress }),
    }
    const run = () =>
      isSessions
        ? importTranscripts(context, { ...options, format, path, since, dryRun })
        : importFrom(memory, format, path!, options)
    const report = dryRun ? { ...memory.attempt(run), dryRun: true as const, batches: [] } : run()
    const asked = dryRun || isSessions ? [] : await askForYes(context, report.source)
    return { text: [printReport(report), ...asked].join('\n'), json: report as unknown as Json }
  },
})
