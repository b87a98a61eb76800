import { readEdits, refreshViews } from '../handoff/views/index.ts'
import type { Json } from '../model/field.ts'
import type { Output, Tool, ToolContext } from './tool.ts'

/** What a tool answers, with further notes in its text and, where its JSON has notes, in that. */
function withNotes(output: Output, notes: readonly string[]): Output {
  if (notes.length === 0) return output
  const { json } = output
  const has = typeof json === 'object' && json !== null && !Array.isArray(json) && Array.isArray(json.notes)
  return {
    ...output,
    text: [output.text, ...notes.map((n) => `note: ${n}`)].filter(Boolean).join('\n'),
    json: (has ? { ...json, notes: [...(json.notes as Json[]), ...notes] } : json) as Json,
  }
}

/**
 * Runs a tool, as every surface does: what was edited by hand in the files under `.tidemark/` is taken over before it
 * writes, and they follow after.
 */
export async function run(tool: Tool, context: ToolContext, args: Readonly<Record<string, unknown>>): Promise<Output> {
  if (tool.readOnly) return tool.run(context, args)
  const { memory, project } = context
  const edits = readEdits(memory, project)
  const output = await tool.run(context, args)
  return withNotes(output, [...edits, ...refreshViews(memory, project)])
}
