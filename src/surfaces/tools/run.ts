import { absentFiles, settleLocations } from '../../find/code/settle.ts'
import type { Json } from '../../model/field.ts'
import { isObject } from '../../model/object.ts'
import { readEdits, refreshViews } from '../../work/handoff/views/refresh.ts'
import type { Output, Tool, ToolContext } from './tool.ts'

/** What a tool answers, with further notes in its text and, where its JSON has notes, in that. */
function withNotes(output: Output, notes: readonly string[]): Output {
  if (notes.length === 0) return output
  const { json } = output
  const has = isObject(json) && Array.isArray(json.notes)
  return {
    ...output,
    text: [output.text, ...notes.map((n) => `note: ${n}`)].filter(Boolean).join('\n'),
    json: (has ? { ...json, notes: [...(json.notes as Json[]), ...notes] } : json) as Json,
  }
}

/** What recurs is proposed by whoever writes the tenth observation. */
const proposals = async ({ memory, project }: ToolContext, before: number): Promise<string[]> =>
  memory.cursor === before
    ? []
    : (await import('../../work/evolution/synthesis.ts')).synthesizeIfDue(memory, project, before)

/** A goal that was completed is the moment to look whether the project has reached its next level (P6). */
async function promotions({ memory, project }: ToolContext, before: number): Promise<string[]> {
  const goals = memory
    .newsSince(before)
    .flatMap((n) =>
      n.events.flatMap(({ event: e }) => (e.field === 'state' && e.entity.startsWith('goal:') ? e.entity : [])),
    )
  if (!memory.reader.entities(goals).some((e) => e.fields.state === 'complete')) return []
  const due = await (await import('./maturity.ts')).promotionDue(project)
  return due === undefined ? [] : [due]
}

/** Runs a tool for a surface. Edits by hand under `.tidemark/` are taken over before a write; the files follow it. */
export async function run(tool: Tool, context: ToolContext, args: Readonly<Record<string, unknown>>): Promise<Output> {
  if (tool.readOnly) return tool.run(context, args)
  const { memory, project } = context
  const edits = readEdits(memory, project)
  const before = memory.cursor
  const output = await tool.run(context, args)
  const proposed = await proposals(context, before)
  const promoted = memory.cursor === before ? [] : await promotions(context, before)
  await settleLocations(memory, project)
  const absent = absentFiles(memory, project, before)
  return withNotes(output, [...edits, ...proposed, ...promoted, ...absent, ...refreshViews(memory, project)])
}
