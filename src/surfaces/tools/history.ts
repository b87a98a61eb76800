import { keptIn } from '../../base/lookup.ts'
import { isWantedOnly, type News } from '../../engine/feed/news.ts'
import { STATE, UNDONE } from '../../engine/log/cells.ts'
import { isMark, saidIn } from '../../engine/log/context-value.ts'
import { type Event, valueBefore } from '../../engine/log/events.ts'
import type { Memory } from '../../engine/memory.ts'
import type { Reader } from '../../engine/read/reader.ts'
import { shortBatch } from '../../engine/store/keys.ts'
import type { Author } from '../../engine/store/line.ts'
import { putUp, turnsDown } from '../../engine/store/summary.ts'
import { canonical } from '../../model/canonical.ts'
import { kindOf, LINK_KIND } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { defined, isObject } from '../../model/object.ts'
import { localMinute } from '../../model/times.ts'
import { referenceTo } from '../../project/discover/values.ts'
import { userName } from '../../project/open.ts'
import { eventsIn } from '../../project/verbs/undo.ts'
import { nameOfAuthor } from '../../work/coordination/labels.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { findOne, inWords, moment, oneLine } from './format.ts'
import { keptPrompts, mayReadPrompts } from './prompt-search.ts'
import { defineTool, REF, type Span } from './tool.ts'

/** A value for a reader: what is recorded, by its name. */
const inShort = (reader: Reader, value: Json, max: number): string => {
  const found = typeof value === 'string' && value.includes(':') ? reader.entity(value) : undefined
  return found === undefined ? inWords(value, max) || '""' : `"${oneLine(found.name, max)}"`
}

const BEGAN: Readonly<Record<string, string>> = { created: 'recorded', restored: 'brought back' }

function told(memory: Memory, given: Event, was: Json | undefined): string {
  const { db, reader } = memory
  const whatDid = (batch: string) => memory.whatDid(batch)
  const e = { ...given, ...saidIn(given) }
  if (memory.registry().kind(kindOf(e.entity))?.fields[e.field]?.inner) return ''
  if (e.purged) return e.field === '$' ? 'erased' : `${e.field} (erased)`
  if (e.field === '$') {
    const { s: state = 'changed', reason } = (e.value ?? {}) as { s?: string; reason?: Json }
    if (reason === UNDONE) return 'taken back'
    return `${BEGAN[state] ?? state}${reason === undefined ? '' : `: ${inWords(reason, 200)}`}`
  }
  if (e.field === 'standing' || e.field === 'state') return e.op === 'clear' ? '' : String(e.value)
  const no = turnsDown(db, [e])
  if (no) return `rejected what others want${no.reason === undefined ? '' : `: ${inWords(no.reason, 200)}`}`
  if (e.field === 'provenance' && isObject(e.value) && e.value.agrees) return 'accepted what others want'
  if (e.field === 'provenance') return isObject(e.value) && e.value.confirms === '' ? 'rejected' : 'confirmed'
  // what somebody made up has a name of its own
  const at = [...(e.field === 'attrs' && e.path?.length ? [] : [e.field]), ...(e.path ?? [])].join('.')
  const value = e.value === undefined ? '' : inShort(reader, e.value, 200)
  if (e.path?.[0] === 'rejected-because' || e.field === 'abandonReason') return `because: ${value}`
  if (e.field === 'action') return putUp(e.value, (id) => reader.entity(id)?.name, whatDid, 200) ?? value
  if (e.op === 'add') return `${at}: added ${value}`
  if (e.op === 'clear' && e.field === 'retired') return 'brought back'
  if (e.op === 'clear' && was && e.field === 'status') return `${at}: no longer ${inShort(reader, was, 100)}`
  if (e.op === 'remove' || e.op === 'drop' || e.op === 'clear')
    return `${at}: removed ${value || (was === undefined ? '' : inShort(reader, was, 100))}`.trimEnd()
  if (canonical(was ?? null) === canonical(e.value ?? null)) return `${at}: said again: ${value}`
  const how = at === 'name' && was !== undefined ? 'renamed' : at
  return `${how}: ${was === undefined ? '' : `${inShort(reader, was, 100)} → `}${value}`
}

/** The links that an entity has: the events that made them. */
const linked = (memory: Memory, id: string) =>
  (['to', 'from'] as const).flatMap((end) =>
    memory.reader.edges(end, [id]).flatMap(({ id: link, type, from, to }) => {
      const other = referenceTo(memory.reader, end === 'to' ? from : to)
      const said =
        end === 'from' ? `${type} ${other}` : type === 'supersedes' ? `superseded by ${other}` : `${other} ${type} this`
      const [made] = memory.history(link)
      const why = memory.reader.entity(link)?.fields.description
      const whole = why === undefined ? said : `${said}: ${inWords(why, 200)}`
      return made ? [{ ...made, text: type === 'supersedes' ? whole : `linked: ${whole}` }] : []
    }),
  )

type Entry = ReturnType<Memory['history']>[number]

/** What an event took the place of; items of lists come and go by themselves. */
const wasOf = ({ event }: Entry, all: readonly Entry[]): Json | undefined =>
  event.op === 'add' || event.op === 'remove' || event.field === STATE ? undefined : valueBefore(event, eventsIn(all))

/** A batch of these alone is told by its summary. */
const isEnding = ({ field, path }: Event) => ['retired', 'standing'].includes(field) || path?.[0] === 'rejected-because'

/** What a batch did. Of one entity that it changed, what from what to what. */
function what(memory: Memory, n: News, known: Map<string, Entry[]>): string {
  if (n.presence) {
    const { path, on } = n.presence.body
    return [n.summary.replace('-', ' '), path ?? (on && inShort(memory.reader, on, 100))].filter(Boolean).join(' ')
  }
  const said = n.events.filter((x) => x.event.field !== 'provenance')
  const [id, ...others] = new Set(said.map((x) => x.event.entity))
  if (said.every((x) => isEnding(x.event)) || turnsDown(memory.db, eventsIn(n.events))) return n.summary
  const e = id === undefined || others.length > 0 || n.author.undoes ? undefined : memory.reader.entity(id)
  if (e === undefined || isWantedOnly(memory.db, n.batch, e.id) || e.name === '') return n.summary
  if (e.kind === LINK_KIND || e.kind === 'proposal' || said.some((x) => x.event.field === STATE)) return n.summary
  const all = keptIn(known, e.id, () => memory.history(e.id))
  return `${oneLine(e.name, 60)}: ${said.flatMap((x) => told(memory, x.event, wasOf(x, all)) || []).join('; ')}`
}

const rowOf = (at: number, text: string, who: string, batch: string): Span[][] => [
  [['aside', localMinute(at).slice(0, 16)]],
  [text],
  [['kind', oneLine(who, 24)]],
  [['ref', batch]],
]

export const history = defineTool({
  name: 'history',
  title: 'History of an entity',
  about:
    'tells everything that happened to an entity, oldest first: who, when, what, and what it was before; without one, the latest batches',
  example: 'tidemark history use-sqlite',
  params: {
    ref: { ...REF, place: 'rest' },
    limit: { type: 'number', least: 1, about: 'so many lines, when no entity is named (20)' },
    prompts: { type: 'flag', about: 'what you typed in sessions on this machine, newest first', typed: true },
  },
  readOnly: true,
  run(context, args) {
    const { memory, local } = context
    const sessions = sessionsOf(memory)
    const by = (author: Author) => {
      const who = nameOfAuthor(author, author.session === undefined ? undefined : sessions.get(author.session))
      return [who, author.source].filter(Boolean).join(', ')
    }
    const when = `WHEN (${localMinute(memory.env.now()).slice(17)})`
    const table = { head: [when, 'WHAT', 'WHO', 'BATCH'], cuts: 1, wraps: true } as const
    if (args.prompts && mayReadPrompts(context)) return keptPrompts(context, '', args.limit)
    if (args.ref === undefined) {
      const { limit = 20 } = args
      const news = memory.newsSince(Math.max(0, memory.cursor - limit)).reverse()
      // sessions and claims are those of this machine
      const known = new Map<string, Entry[]>()
      const entries = news.map((n) => {
        const who = by(n.presence ? { user: userName(context.project.root), ...n.author } : n.author)
        return { at: n.at, text: what(memory, n, known), who, batch: n.batch && shortBatch(n.batch) }
      })
      const lines = entries.map(({ at, text, who, batch }) =>
        [moment(at, local), batch, text, who && `[${who}]`].filter(Boolean).join('  '),
      )
      const [first] = memory.newsSince(0, 1)
      if (first && first.seq < (news.at(-1)?.seq ?? Number.POSITIVE_INFINITY))
        lines.push(`… more: give --limit ${Math.max(50, limit * 2)}`)
      const rows = entries.map(({ at, text, who, batch }) => rowOf(at, text, who, batch))
      const more = lines.slice(entries.length).map((line) => ({ line: [line] }))
      return {
        text: lines.join('\n') || 'nothing has happened yet',
        ...(news.length > 0 && { page: () => [{ ...table, rows }, ...more] }),
        json: news.map((n) => ({
          batch: n.batch,
          seq: n.seq,
          at: new Date(n.at).toISOString(),
          summary: n.summary,
          author: n.author as unknown as Json,
        })),
      }
    }
    const e = findOne(memory.reader, args.ref, true)
    const decides = (e: Event) => (isObject(e.value) && e.value.confirms !== undefined) || turnsDown(memory.db, [e])
    const events = memory.history(e.id).filter(({ event: e }) => e.field !== 'provenance' || decides(e))
    const steps = [
      ...events.map((x) => {
        const text = told(memory, x.event, wasOf(x, events))
        return { ...x, text: text && isWantedOnly(memory.db, x.batch, e.id) ? `wants: ${text}` : text }
      }),
      ...linked(memory, e.id),
    ]
    steps.sort((a, b) => a.event.stamp.ms - b.event.stamp.ms)
    // of what was taken back nothing is left: its fields need no line each
    const isUndone = ({ event }: Entry) => (event.value as { reason?: Json } | undefined)?.reason === UNDONE
    const kept = new Set(events.filter((x) => turnsDown(memory.db, [x.event])).map((x) => x.batch))
    const gone = new Set(events.filter((x) => x.event.field === STATE && isUndone(x)).map((x) => x.batch))
    const lines: string[] = []
    const rows: Span[][][] = []
    let batch = ''
    let last = ''
    for (const x of steps) {
      if (gone.has(x.batch) && x.event.entity === e.id && x.event.field !== STATE) continue
      if (kept.has(x.batch) && x.event.field !== 'provenance' && x.event.over.length > 0) continue
      if (isMark(x.event) || x.text === '' || (x.batch === batch && x.text === last)) continue
      last = x.text
      if (x.batch !== batch) {
        batch = x.batch
        const who = x.author ? by(x.author) : ''
        const undone = x.author?.undoes ? memory.whatDid(batch) : undefined
        const why = x.author?.intent ? `“${oneLine(x.author.intent, 80)}”` : oneLine(undone ?? '', 120)
        lines.push([moment(x.event.stamp.ms, local), shortBatch(batch), who, why].filter(Boolean).join('  '))
        rows.push(rowOf(x.event.stamp.ms, why || x.text, who, shortBatch(batch)))
        if (why) rows.push([[], [x.text], [], []])
      } else rows.push([[], [x.text], [], []])
      lines.push(`  ${x.text}`)
    }
    const iso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString())
    const json = events.map((x) => {
      const { id, batch, author = {} } = x
      const { field, op, path, value, stamp } = x.event
      const was = wasOf(x, events)
      const said = { field, op, path, value, was, text: told(memory, x.event, was), received: iso(x.received) }
      return defined({ id, batch, at: iso(stamp.ms), ...said, author }) as unknown as Json
    })
    return { text: lines.join('\n'), json, page: () => [{ ...table, rows }] }
  },
})
