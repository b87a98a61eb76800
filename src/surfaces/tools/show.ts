import { STATE, UNDONE } from '../../engine/log/cells.ts'
import type { Memory } from '../../engine/memory.ts'
import { nameOf } from '../../engine/read/called.ts'
import { currentHash, Staleness } from '../../engine/read/stale.ts'
import { waitingAt } from '../../engine/replication/waiting.ts'
import { lookAgain } from '../../find/code/look.ts'
import { holdsJson, holdsOf, marksOf } from '../../find/recall/told.ts'
import { type Entity, type Link, provenanceOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { fieldsOf } from '../../model/kind.ts'
import { isObject } from '../../model/object.ts'
import { referenceTo } from '../../project/discover/values.ts'
import { ago, entityJson, inWords, oneLine, refTo } from './format.ts'
import { AS_OF, at, findAt } from './moment.ts'
import { defineTool, REF, type Span } from './tool.ts'

const LIST_LINE = 80

/** What a field says; a list on one line where that is short. */
function shown(value: Json): string {
  if (typeof value === 'string') return value.replace(/\n/g, '\n    ')
  if (isObject(value))
    return Object.entries(value)
      .map(([key, v]) => `\n    ${key}: ${typeof v === 'string' ? v : JSON.stringify(v)}`)
      .join('')
  if (!Array.isArray(value)) return JSON.stringify(value)
  const items = value.map((v) => (typeof v === 'string' ? v : JSON.stringify(v)))
  const line = items.join(', ')
  return line.length <= LIST_LINE && !items.some((item) => /[,\n]/.test(item))
    ? line
    : items.map((item) => `\n    - ${item}`).join('')
}

/** The name of a field stands back behind what it says. */
function told(line: string): Span[] {
  const [, label = '', rest = line] = /^([\w-]{1,40}(?::| [→←]) )(.*)$/.exec(line) ?? []
  return [['aside', label], rest]
}

/** What took it away, as far as it was known at a moment. */
function goneSaid(memory: Memory, { id }: Entity, then: number): string {
  const said = memory.history(id).filter(({ event }) => event.field === STATE && event.stamp.ms <= then)
  const { reason } = (said.at(-1)?.event.value ?? {}) as { reason?: Json }
  return reason === UNDONE ? 'taken back' : `deleted${why(reason)}; restore brings it back`
}

const why = (said: Json | undefined): string => (said === undefined ? '' : `: ${inWords(said, 200)}`)

export const show = defineTool({
  name: 'show',
  title: 'Show one entity',
  about: 'shows everything recorded of one entity, its links and who said it',
  example: 'tidemark show use-sqlite',
  params: { ref: { ...REF, required: true, place: 'rest' }, 'as-of': AS_OF },
  readOnly: true,
  async run(context, args) {
    const { memory, project } = context
    await lookAgain(memory, project)
    const then = await at(context, args)
    const { reader, now, past } = then
    const e = findAt(context, then, args.ref, true)
    const kind = reader.registry().kind(e.kind)
    const known = kind ? fieldsOf(kind) : {}
    // its naming may have been undone
    const name = (e.kind === 'proposal' ? nameOf(e, memory) : e.name) || e.id.slice(e.kind.length + 1)
    const lines = [
      `${e.kind} ${name}${e.live ? '' : `  (${goneSaid(memory, e, past ? now : Number.POSITIVE_INFINITY)})`}`,
    ]
    for (const field of [...new Set([...Object.keys(known), ...Object.keys(e.fields)])]) {
      const value = e.fields[field]
      if (value === undefined || field === 'provenance' || known[field]?.inner || value === e.name) continue
      lines.push(`  ${field}: ${shown(value)}`.replace(': \n', ':\n'))
    }
    const from = reader.links('from', e.id)
    const to = reader.links('to', e.id)
    const links = [...from, ...to].map((l) => l.entity)
    const ends = reader.entities([...from.map((l) => l.to), ...to.map((l) => l.from)])
    const said = holdsOf(memory, '', [...links, ...ends], { ...then, past: true })
    const marksAt = (id: string) => (said.has(id) ? marksOf(said.get(id)!) : [])
    // what took the place of the other end is said by the link
    const marked = ({ id, type, entity }: Link, end: string) =>
      ['', ...marksAt(id), ...(type === 'supersedes' ? [] : marksAt(end))].join(', ') + why(entity.fields.description)
    for (const l of from) lines.push(`  ${l.type} → ${referenceTo(reader, l.to)}${marked(l, l.to)}`)
    for (const l of to)
      lines.push(
        `  ${reader.registry().relation(l.type)?.inverse ?? `${l.type} of`} ← ${referenceTo(reader, l.from)}${marked(l, l.from)}`,
      )
    for (const c of e.conflicts)
      lines.push(
        `  conflict in ${c.field === '$' ? 'existence' : c.field}: ${c.values.map((v) => JSON.stringify(v.value ?? null)).join(' against ')} (write it again to settle it)`,
      )
    const waiting = past ? [] : waitingAt(memory.db, e.id)
    for (const { by, wants } of waiting) lines.push(`  ${oneLine(by, 60)}, unverified, ${oneLine(wants, 600)}`)
    if (waiting.length > 0)
      lines.push(`  tidemark confirm ${e.id} takes the change; tidemark reject ${e.id} keeps it as it is`)
    const holds = holdsOf(memory, project.root, [e], then).get(e.id)!
    const stale = past || e.kind !== 'file' ? undefined : new Staleness(memory.db, project.root, reader).of(e.id)
    const current = stale && currentHash(memory.db, project.root, stale)
    const marks = marksOf(holds).filter((m) => m !== 'deleted')
    if (marks.length > 0) lines.push(`  ${marks.join('; ')}`)
    if (current !== undefined) lines.push(`  currentHash: ${current}`)
    const who = provenanceOf(e).map((p) => {
      const [name, ...rest] = [p.user, p.agent, p.session && `session ${p.session}`].filter(Boolean)
      const beside = [...rest, ...(p.branch ? [`on ${p.branch}`] : [])].join(', ')
      return `${name ?? 'somebody'}${beside && ` (${beside})`}`
    })
    lines.push(
      `  recorded ${ago(e.created, now)}${who.length > 0 ? ` by ${[...new Set(who)].join(' and ')}` : ''} · version ${e.version}`,
      `  ${e.id}`,
    )
    return {
      text: lines.join('\n'),
      page() {
        const [head = '', ...rest] = lines
        const state = head.slice(`${e.kind} ${name}`.length)
        return [
          { line: [['name', name], state, '  ', ['kind', e.kind], ' ', ['ref', refTo(reader, e.id)]] },
          ...rest
            .flatMap((l) => l.split('\n'))
            .map((l) => ({ line: told(l.trimStart()), indent: l.length - l.trimStart().length })),
        ]
      },
      json: {
        ...entityJson(e),
        links: [...from, ...to].map(({ id, from, to, type }) => ({ id, from, to, type })),
        conflicts: e.conflicts as unknown as Json,
        ...(waiting.length > 0 ? { waiting: waiting.map(({ by, wants }) => ({ by, wants })) } : {}),
        ...holdsJson(holds),
        ...(current === undefined ? {} : { currentHash: current }),
      },
    }
  },
})
