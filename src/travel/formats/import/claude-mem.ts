import { UserError } from '../../../base/errors.ts'
import { parseJson } from '../../../model/exact-json.ts'
import type { Json } from '../../../model/field.ts'
import { betweenCommas } from '../../../model/markdown.ts'
import { isObject, type JsonObject, jsonIn } from '../../../model/object.ts'
import { labelOf, readText } from './files.ts'
import { asStrings, text, unlessNone } from './json-values.ts'
import { chunksOf } from './shorten.ts'
import type { Importer, Item, Unplaced } from './types.ts'

export const claudeMem: Importer = {
  name: 'claude-mem',
  about:
    "the JSON of claude-mem's export script: observations become learnings, decisions proposals, summaries and prompts chunks",
  read(path, root) {
    const file = labelOf(path, root)
    const refuse = (why: string) =>
      new UserError('bad-format', `${file} is no export of claude-mem: ${why}`, 'its script export-memories writes one')
    let whole: Json
    try {
      whole = parseJson(readText(path, root)) as Json
    } catch (error) {
      if (error instanceof UserError) throw error
      throw refuse((error as Error).message)
    }
    const found = isObject(whole) ? whole : {}
    const lists = Object.keys(READERS).filter((list) => Array.isArray(found[list]))
    if (lists.length === 0) throw refuse('it has no "observations", "summaries" or "prompts"')
    const unplaced: Unplaced[] = []
    const items: Item[] = []
    const counts: Record<string, number> = {}
    for (const list of lists) {
      for (const [i, entry] of (found[list] as Json[]).entries()) {
        const where = `${file}#${list}[${i}]`
        const read = isObject(entry) ? READERS[list]!(entry, where) : []
        if (read.length === 0) unplaced.push({ where, what: JSON.stringify(entry), why: 'no text that could be kept' })
        else counts[list] = (counts[list] ?? 0) + 1
        items.push(...read)
      }
    }
    return { items, unplaced, counts, files: [file], owns: ['chunk'] }
  },
}

const READERS: Readonly<Record<string, (entry: JsonObject, where: string) => Item[]>> = {
  observations: observationOf,
  summaries: (entry, where) => {
    const parts = ['request', 'investigated', 'learned', 'completed', 'next_steps', 'notes']
    const said = parts.flatMap((key) => (text(entry[key]) ? [`${key.replace('_', ' ')}: ${text(entry[key])}`] : []))
    return chunks(entry, said.join('\n\n'), 'summary', where)
  },
  prompts: (entry, where) => chunks(entry, text(entry.prompt_text) ?? '', 'user', where),
}

const SESSION_KEYS = ['memory_session_id', 'sdk_session_id', 'content_session_id', 'claude_session_id']
const sessionOf = (e: JsonObject) => SESSION_KEYS.map((key) => text(e[key])).find(Boolean) ?? 'session'

function timeOf({ created_at_epoch: epoch, created_at: at }: JsonObject): string | undefined {
  const ms = typeof epoch === 'number' ? (epoch < 1e11 ? epoch * 1000 : epoch) : Date.parse(String(at))
  return Number.isFinite(ms) && Math.abs(ms) < 8e15 ? new Date(ms).toISOString() : undefined
}

/** A list as it is kept: JSON in a text, a list, or with commas. */
function listOf(value: Json | undefined): string[] {
  if (typeof value !== 'string') return asStrings(value)
  const said = jsonIn(value) as Json | undefined
  return said === undefined ? betweenCommas(value) : asStrings(said)
}

function observationOf(entry: JsonObject, where: string): Item[] {
  const facts = listOf(entry.facts)
  const body = [text(entry.subtitle), text(entry.narrative) ?? text(entry.text), facts.map((f) => `- ${f}`).join('\n')]
    .filter(Boolean)
    .join('\n\n')
  const title = text(entry.title) ?? body.split('\n')[0]!
  if (title === '') return []
  const date = timeOf(entry)
  const files = new Set([...listOf(entry.files_read), ...listOf(entry.files_modified)])
  const attrs = { type: text(entry.type) ?? 'observation', ...(files.size > 0 && { files: [...files].join(', ') }) }
  const common = { topics: unlessNone(listOf(entry.concepts)), attrs }
  const said = body || undefined
  if (entry.type !== 'decision')
    return [{ verb: 'record-learning', args: { title, body: said, date, ...common }, where }]
  const dated = { standing: 'proposed', validFrom: date?.slice(0, 10) }
  return [{ verb: 'record-decision', args: { name: title, description: said, ...dated, ...common }, where }]
}

function chunks(entry: JsonObject, said: string, speaker: string, where: string): Item[] {
  const sourceFile = `claude-mem/${sessionOf(entry)}`
  const at = { sourceFile, section: '', where, from: Number(entry.prompt_number ?? 0) }
  const date = timeOf(entry)
  return chunksOf(said, at).chunks.map(({ as: _, ...c }) => ({ ...c, args: { ...c.args, speaker, date } }))
}
