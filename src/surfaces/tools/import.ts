import { UsageError, UserError } from '../../base/errors.ts'
import type { Json } from '../../model/field.ts'
import { IMPORTERS, importFrom } from '../../travel/formats/import/index.ts'
import { printReport } from '../../travel/formats/import/report.ts'
import * as arrival from './arrive.ts'
import { undoLine } from './format.ts'
import { importTranscripts, SPECSTORY, TRANSCRIPTS } from './import-transcripts.ts'
import { actingAs, defineTool, type Output, type ToolContext } from './tool.ts'

/** Makes vectors of what came, for so long: the first questions need not. A large import leaves them some. */
async function prepare({ memory, project }: ToolContext): Promise<void> {
  const { recallerOf } = await import('../../find/recall/recall.ts')
  recallerOf(memory, project).prepareNow(5_000)
}

/** Takes in all that is found here, but for what the person leaves out, now or before. */
async function arrive(context: ToolContext, without: readonly string[], dryRun: boolean): Promise<Output> {
  const { memory, project, ask } = context
  const refused = arrival.refusedIn(memory)
  const found = arrival.findSources(project.root, [...refused, ...without], arrival.readFrom(memory, project.root))
  const out = refused.length > 0 ? [`  out    ${refused.join(', ')}: left out before; name one to import it`] : []
  const told = [found.sources.length > 0 ? 'found here:' : 'nothing found here', ...found.lines, ...out]
  const json: { [key: string]: Json } = { found: found.sources.map((s) => s.path) }
  if (dryRun || found.sources.length === 0) return { text: told.join('\n'), json }
  arrival.refuse(memory, without)
  const asks = context.by === 'person' ? ask : undefined
  const question = [...told, 'Take it in? Its rules bind nobody before you agree to them.'].join('\n')
  if (asks && !(await asks(question))) {
    const all = found.sources.map((s) => s.path)
    arrival.refuse(memory, all)
    return { text: 'left out, now and later', json }
  }
  const lines: string[] = asks ? [] : told
  const who = { ...context, session: arrival.newArrival() }
  const since = memory.cursor
  const { taken, imported, again } = arrival.takeIn(who, project.root, found, (line) => void lines.push(line))
  const rules = await arrival.askForRules(who, taken, asks)
  await prepare(context)
  const text = [...lines, ...rules.lines, ...arrival.wayBack(who, since)].join('\n')
  if (again !== undefined) throw new UserError('not-imported', text, again)
  return { text, json: { ...json, imported, rules: rules.json } }
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
      about: 'what the source is; without it, all that is found here',
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
    without: { type: 'text', about: 'of all that is found, leave out these paths or readers, now and later' },
    'dry-run': { type: 'flag', about: 'say what would be written, write nothing' },
  },
  local: true,
  async run(context, args) {
    const { memory } = context
    const { format, path, since } = args
    const dryRun = args['dry-run'] === true
    if (format === undefined) return arrive(context, arrival.namesIn(args.without), dryRun)
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
    const asks = context.by === 'person' ? context.ask : undefined
    const rules =
      dryRun || isSessions ? { lines: [], batches: [] } : await arrival.askForRules(context, [report.source], asks)
    if (report.batches.length > 0) await prepare(context)
    const undo = rules.batches.map((batch) => undoLine(batch))
    return { text: [printReport(report), ...rules.lines, ...undo].join('\n'), json: report as unknown as Json }
  },
})
