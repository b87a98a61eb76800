import { resolve } from 'node:path'
import { attempt, refuse, UsageError } from '../../base/errors.ts'
import { shellWord } from '../../model/shell.ts'
import { readText } from '../../travel/formats/import/files.ts'
import { currentHandoffs } from '../../work/handoff/current.ts'
import { ago, entityJson, oneLine } from './format.ts'
import { readStdin } from './stdin.ts'
import { actingAs, defineTool, type Output, type ToolContext, written } from './tool.ts'

/** What is to be handed off: a page in Markdown, plain text, or the arguments of write-handoff as JSON. */
function saidIn(text: string): { [name: string]: unknown } {
  if (!/^\s*\{/.test(text)) return { body: text }
  const hint = 'give {"inProgress": […], "nextSteps": […]}, or Markdown'
  return attempt(
    () => JSON.parse(text),
    ({ message }) => refuse('not-json', `the handoff is not JSON: ${message}`, hint),
  )
}

function write(context: ToolContext, text: string, { task, title }: { task?: string; title?: string }): Output {
  const said = { ...saidIn(text), ...(task && { task }), ...(title && { title }) }
  const done = context.memory.act([['write-handoff', said]], actingAs(context))
  const [r] = done.results
  return written(done, [`handed off: ${String(r!.name)}`, `  ${r!.id}`], { ...done, id: r!.id })
}

function shown({ memory, project }: ToolContext, { task }: { task?: string }): Output {
  const all = currentHandoffs(memory, project)
  const wanted = task !== undefined ? memory.reader.find(task).map((e) => e.id) : undefined
  const some = wanted ? all.filter((h) => h.task !== undefined && wanted.includes(h.task)) : all
  const now = memory.env.now()
  const text = some
    .map((h) => `${h.markdown.trimEnd()}\n\n(${h.entity.id}, ${ago(h.written, now)}${h.stale ? ', stale' : ''})`)
    .join('\n\n')
  return {
    text: text || `no handoff is current${wanted ? ' for that task' : ': `tidemark handoff write -` leaves one'}`,
    json: some.map(({ entity, said: _said, ...rest }) => ({
      ...entityJson(entity),
      ...rest,
      written: new Date(rest.written).toISOString(),
    })),
  }
}

export const handoff = defineTool({
  name: 'handoff',
  title: 'Handoff',
  about:
    'shows where the work stands as sessions have left it, newest first, or writes it. There is one per task, else one per session; a new one replaces the old',
  example: 'tidemark handoff show',
  params: {
    do: { type: 'text', about: 'show (unless said), or write', place: 0, choices: ['show', 'write'] },
    file: { type: 'text', about: 'write: a file, or - for standard input: Markdown, plain text or JSON', place: 1 },
    task: { type: 'text', about: "the task it is of (write: the session's current one)" },
    title: { type: 'text', about: 'write: what it is called, instead' },
  },
  local: true,
  run(context, args) {
    if ((args.do ?? 'show') === 'show') {
      if (args.file === undefined) return shown(context, args)
      throw new UsageError(
        `handoff show takes no file: \`tidemark handoff write ${shellWord(oneLine(args.file, 40))}\` writes one from it`,
        '--task REF shows the handoff of a task',
      )
    }
    if (args.file === undefined)
      throw new UsageError('the file is missing', '`tidemark handoff write FILE`, or - for standard input')
    return write(context, args.file === '-' ? readStdin() : readText(resolve(args.file), context.project.root), args)
  },
})
