import { createHash } from 'node:crypto'
import type { Memory } from '../../../engine/memory.ts'
import { oldestFirst } from '../../../engine/read/order.ts'
import { stateOf } from '../../../find/recall/validity.ts'
import { type Entity, provenanceOf, standingOf } from '../../../model/entity.ts'
import type { Json } from '../../../model/field.ts'
import { defined, isObject, type JsonObject } from '../../../model/object.ts'
import { leaves } from '../../../model/validate.ts'
import { claimsOf } from '../../../work/coordination/claims.ts'
import { type Handoff, handoffOf, minute, onPage, printHandoff } from '../../../work/handoff/page.ts'
import { escaped } from '../../../work/handoff/views/decisions.ts'
import { attrsOf, mutationSection, numbered } from '../../../work/handoff/views/mutations.ts'
import { observationLine, observedAt } from '../../../work/handoff/views/observations.ts'
import { type Block, blockOf, printBlock } from '../../../work/handoff/views/swarm.ts'
import { asList, withLeaf } from '../import/json-values.ts'

const said = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** What holds of a kind, in the order in which it was recorded. */
export const heldOf = ({ reader, db, env }: Memory, kind: string): Entity[] =>
  oldestFirst(
    db,
    reader
      .list(kind)
      .filter((e) => standingOf(e.fields) === 'confirmed' && stateOf(e, reader, env.now()) === undefined),
  )

/** The facts that settings of ADD were made into, whether or not they bind here: the file says them. Newest first. */
const settingsOf = ({ reader }: Memory): Entity[] =>
  reader.list('fact').filter((e) => {
    const isRead = provenanceOf(e).some((p) => String(p.source).startsWith('import add'))
    return isRead && reader.edges('to', [e.id], ['supersedes']).length === 0 && attrsOf(e).setting !== undefined
  })

function lineIn({ fields: { locations } }: Entity): number {
  const [line] = asList(locations).flatMap((l) => /(?:^|\/)decisions\.md:(\d{1,9})$/.exec(l)?.[1] ?? [])
  return Number(line ?? Number.POSITIVE_INFINITY)
}

function decisionLine(e: Entity): string {
  const { description, rationale } = e.fields
  const isRead = lineIn(e) < Number.POSITIVE_INFINITY
  const whole = isRead && description !== undefined ? said(description) : e.name
  const at = said(attrsOf(e).at) || (isRead ? '' : minute(e.created))
  const reasons = said(rationale) || (isRead ? '' : said(description))
  return [at, escaped(whole), ...reasons.split(' | ').map(escaped)].filter(Boolean).join(' | ')
}

/** As it was read, where one of the forms of a line is the one that its mark was made of. */
function addObservation(e: Entity): string {
  const { at, lineId } = attrsOf(e)
  const { synthesized: _, ...fields } = e.fields
  const [, ...rest] = observationLine({ ...e, fields }).split(' | ')
  const line = [said(at) || minute(observedAt(e)), ...rest].join(' | ')
  const forms = [line, line.replace(/ \| -$/, ''), line.replace(' | - | ', ' | ').replace(/ \| -$/, '')]
  const mark = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)
  return forms.flatMap((f) => [f, `- ${f}`, `* ${f}`]).find((f) => mark(f) === said(lineId).split(' ')[0]) ?? line
}

/** A result that was read from a block of the swarm state, as that block. */
function blockIn(e: Entity): Block | undefined {
  const { role, at, block: _, result, ...more } = attrsOf(e)
  if (typeof role !== 'string') return undefined
  const done = [more.claimed, more.handoff].filter(Boolean).join('; ')
  const text = said(e.fields.text).slice(role.length + 2)
  const { claimed, handoff, 'depends-on': needs, ...others } = more
  const came = { status: e.fields.outcome, claimed, result: result ?? (text === done ? undefined : text) }
  const all: JsonObject = defined({ ...came, handoff, 'depends-on': needs, ...others }) as JsonObject
  const lines = new Map(Object.entries(all).flatMap(([key, value]) => (said(value) ? [[key, said(value)]] : [])))
  return { role, ...(typeof at === 'string' && { at }), lines }
}

/** The newest handoff, whole: what was too long for its body stands in chunks. */
function handoffPage({ reader }: Memory, e: Entity): string {
  const { heading, for: title } = attrsOf(e)
  const { title: own, ...rest } = handoffOf(e)
  const chunks = reader
    .links('to', e.id)
    .filter((l) => l.type === 'from-source')
    .flatMap((l) => reader.entity(l.from) ?? [])
    .sort((a, b) => Number(a.fields.position) - Number(b.fields.position))
  const sections = [...Map.groupBy(chunks, (c) => said(c.fields.section)).values()]
  const body = sections.map((s) => s.map((c) => said(c.fields.content)).join('')).join('\n\n') || rest.body
  const name = own === 'ADD handoff' ? said(title) : own
  const written = said(e.fields.written)
  // a day alone is printed as one, unless the heading says it
  const isDay = written.length === 10
  const at = isDay || !written ? undefined : rest.written
  const shown = defined({ ...rest, body, title: name || undefined, written: at })
  const head = `# ${said(heading) || 'Session Handoff'}\n${isDay && !said(heading).includes(written) ? `**Written:** ${written}\n` : ''}`
  return printHandoff(shown as Handoff, 0, { shown: shown as Handoff, left: {} }).replace(
    '# Session Handoff\n',
    () => head,
  )
}

function configOf(memory: Memory, project: Entity): JsonObject {
  const { addVersion, $schema, ...attrs } = attrsOf(project)
  let config: Json = defined({
    $schema,
    version: addVersion,
    project: defined({ name: project.fields.name, description: project.fields.definition }),
  }) as JsonObject
  const put = (tree: Json) => {
    for (const [path, value] of leaves(tree as JsonObject)) config = withLeaf(config, path, value)
  }
  for (const [key, value] of Object.entries(attrs))
    put(isObject(value) ? { [key]: value } : { project: { [key]: value } })
  for (const fact of settingsOf(memory).reverse()) put(attrsOf(fact).setting ?? {})
  return config as JsonObject
}

const TITLES: Readonly<Record<string, string>> = { 'anti-pattern': 'Anti-Patterns' }

export function learningsPage(name: string, entries: readonly JsonObject[]): string {
  const rank = (e: JsonObject) => ['critical', 'high', 'medium', 'low', ''].indexOf(said(e.severity))
  const sections = [...Map.groupBy(entries, (e) => said(e.category) || 'general')]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([category, some]) => {
      const title = TITLES[category] ?? category.charAt(0).toUpperCase() + category.slice(1)
      const items = [...some]
        .sort((a, b) => rank(a) - rank(b))
        .map(({ id, severity, title: text, date, body }) => {
          const head = `- **${severity ? `[${severity}] ` : ''}${onPage(said(text))}** (${[id, date].filter(Boolean).join(', ')})`
          const lines = said(body)
            .split('\n')
            .map((line) => line.trim())
          return [head, ...lines.filter(Boolean)].join('\n  ')
        })
      return `## ${title}\n\n${items.join('\n\n')}\n`
    })
  const last = entries
    .map((e) => said(e.date))
    .sort()
    .at(-1)
  const foot = `---\n*${entries.length} entries.${last ? ` Last updated: ${last}.` : ''} Source: .add/learnings.json*\n`
  const head = `# Project Learnings — ${name}\n\n> **Tier 3: Project-Specific Knowledge**\n> Generated from \`.add/learnings.json\` — do not edit directly.\n> Agents read JSON for filtering; this file is for human review.\n`
  return [head, ...sections, foot].join('\n')
}

/** The pages and the configuration of ADD, as far as there is something to say, and what they show. */
export function pagesOf(memory: Memory): { files: Record<string, string>; shown: Entity[] } {
  const decisions = heldOf(memory, 'decision').sort((a, b) => lineIn(a) - lineIn(b) || 0)
  const observations = heldOf(memory, 'observation')
  const mutations = numbered(memory.reader.list('mutation', { all: true }))
  const results = heldOf(memory, 'result').filter((e) => blockIn(e))
  const live = claimsOf(memory).blocks().map(blockOf)
  const roles = new Set(live.map((b) => b.role))
  const blocks = [...results.map((e) => blockIn(e)!).filter((b) => !roles.has(b.role)), ...live]
  const writtenAt = (e: Entity) => handoffOf(e).written ?? 0
  const [handoff] = heldOf(memory, 'handoff').sort((a, b) => writtenAt(b) - writtenAt(a))
  const settings = settingsOf(memory)
  const [project] = heldOf(memory, 'concept').filter((e) => e.fields.type === 'project')
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? undefined : `# ${title}\n\n${lines.join('\n')}\n`
  const files = defined({
    'config.json': project && `${JSON.stringify(configOf(memory, project), null, 2)}\n`,
    'observations.md': list('Process Observations', observations.map(addObservation)),
    'decisions.md': list('Decisions', decisions.map(decisionLine)),
    'mutations.md': list('Process Mutations', [mutations.map(mutationSection).join('\n\n')].filter(Boolean)),
    'swarm-state.md': blocks.length === 0 ? undefined : ['# Swarm State\n', ...blocks.map(printBlock)].join('\n'),
    'handoff.md': handoff && handoffPage(memory, handoff),
  }) as Record<string, string>
  const configured = project ? [project, ...settings] : []
  return { files, shown: [decisions, observations, mutations, results, handoff ?? [], configured].flat() }
}
