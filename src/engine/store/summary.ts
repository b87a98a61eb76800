import { attempt } from '../../base/errors.ts'
import { kindOf, LINK_KIND } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { KINDS } from '../../model/kinds/index.ts'
import { isObject, type JsonObject } from '../../model/object.ts'
import { oneLine } from '../../model/text.ts'
import { isWork } from '../../model/work-kinds.ts'
import { STATE, type StateValue, UNDONE } from '../log/cells.ts'
import type { Event } from '../log/events.ts'
import type { Db } from './db.ts'
import { shortBatch } from './keys.ts'
import type { Line } from './line.ts'
import { eventsOf } from './log.ts'
import { isOwnReplica } from './own-lines.ts'

const LONGEST = 200
const LONGEST_NAME = 61

const keys: ReadonlyMap<string, string> = new Map(KINDS.map((k) => [k.name, k.key[0]]))

/** What others said makes no line of its own. */
const flat = (said: unknown, longest?: number): string => oneLine(String(said), longest)
const quoted = (name: Json | undefined, longest = LONGEST_NAME): string => `"${flat(name, longest)}"`

/** What an entity is called now, or a batch did; nothing where that is not known. */
export type Called = (id: string) => string | undefined

/** What something deleted was called last, or what else it said; nothing where that was erased. */
export function calledLast(db: Db, id: string, field?: string, events = eventsOf(db, id)): string | undefined {
  const said = field ?? keys.get(kindOf(id)) ?? 'name'
  return events.findLast((e) => e.event.field === said && e.event.value !== undefined)?.event.value as string
}

/** What an entity said last in a field; whether what the batch says of it does not hold here; and `turnsDown`. */
interface Known {
  last?(id: string, field: string): Json | undefined
  isWanted?(id: string): boolean
  no?(events: readonly Event[]): JsonObject | undefined
}

/** What somebody here says in these events, where they turn down what another replica wants of the same entity. */
export function turnsDown(db: Db, events: readonly Event[]): JsonObject | undefined {
  const isNo = ({ entity, field, value, stamp }: Event) => {
    const keeps = field === 'provenance' && isObject(value) ? value.keeps : undefined
    if (typeof keeps !== 'string' || isOwnReplica(db, keeps.split(':')[0]!)) return false
    return isOwnReplica(db, stamp.replica) && eventsOf(db, entity).some((e) => e.batch === keeps)
  }
  return events.find(isNo)?.value as JsonObject | undefined
}

const INFINITIVES: { readonly [past: string]: string } = { brought: 'bring', took: 'take', said: 'say', redid: 'redo' }
const wanted = (did: string): string =>
  `wants to ${did.replace(/^[a-z]+/, (verb) => INFINITIVES[verb] ?? verb.replace(/(?:(link|record|confirm|reject)e)?d$/, '$1'))}`

/** So many undos of undos are followed, and so many batches named that were taken back: more fill no line. */
const MOST_UNDOES = 50
const MOST_NAMED = 20

/** What an undo took back in the end, or a redo brought back: of several batches those that are no undos themselves. */
export function undoOf(batches: readonly string[], lineOf: (batch: string) => Line | undefined) {
  const undoes = (batch: string) => lineOf(batch)?.author.undoes ?? []
  let [undone, isRedo] = [batches, false]
  for (let n = 0; n < MOST_UNDOES && undone.length === 1 && undoes(undone[0]!).length > 0; n++)
    [undone, isRedo] = [undoes(undone[0]!), !isRedo]
  const gone = new Set<string>()
  for (const batch of undone) if (!gone.has(batch)) for (const before of undoes(batch)) gone.add(before)
  const wrote = undone.filter((batch) => undoes(batch).length === 0 && !gone.has(batch))
  return { does: isRedo ? 'redid' : 'took back', undone: wrote.length > 0 ? wrote : undone }
}

/** What a batch that takes others back wrote besides; nothing where one of them is not here. */
export function besidesOf(
  events: readonly Event[],
  undone: readonly string[],
  lineOf: (batch: string) => Line | undefined,
) {
  const lines = undone.map(lineOf)
  const at = (e: Event) => `${e.entity} ${e.field}`
  const taken = new Set(lines.flatMap((line) => line?.events.map(at) ?? []))
  const removed = new Set(events.filter((e) => e.field === STATE && taken.has(at(e))).map((e) => e.entity))
  const isOwn = (e: Event) => e.field !== 'provenance' && !removed.has(e.entity) && !taken.has(at(e))
  return lines.includes(undefined) ? [] : events.filter(isOwn)
}

/** What a batch did, in a line. It is read off the events whenever it is shown: no batch says it of itself. */
export function summaryOf(
  { events, author, purges, forks }: Pick<Line, 'events' | 'author' | 'purges' | 'forks'>,
  called: Called = () => undefined,
  lineOf: (batch: string) => Line | undefined = () => undefined,
  { isWanted = () => false, ...known }: Known = {},
  isWhole = true,
): string {
  const { does, undone } = undoOf(author.undoes ?? [], lineOf)
  // what it proposes to undo is told, and not what that proposes in turn
  const did = (batch: string) => {
    const line = isWhole ? lineOf(batch) : undefined
    return line && summaryOf(line, called, lineOf, known, false)
  }
  // what was undone already, or changed since and left, is not written
  const written = new Set(events.map((e) => `${e.entity} ${e.field}`))
  const parts =
    undone.length > 0
      ? undone.slice(0, MOST_NAMED).flatMap((batch) => {
          const line = lineOf(batch)
          const own = [...Map.groupBy(line?.events ?? [], (e) => e.entity).values()]
            .filter((all) => all.some((e) => e.field !== 'provenance' && written.has(`${e.entity} ${e.field}`)))
            .flat()
          return own.length > 0 ? summaryOf({ ...line!, author: {}, events: own }, called, lineOf, known, isWhole) : []
        })
      : [
          ...forks.map(
            (f) => `two stores wrote as ${f.replica}: from line ${f.from} on it is said again under other identities`,
          ),
          ...[...Map.groupBy(events, (e) => e.entity)].flatMap(([id, own]) =>
            isReplaced(id, own, events) ? [] : [said(id, own, called, did, { isWanted, ...known })],
          ),
        ]
  if (parts.length === 0) parts.push(...undone.slice(0, MOST_NAMED).map(shortBatch))
  if (parts.length === 0 && purges.length > 0) parts.push(`erased from ${purges.length} batches`)
  const besides = besidesOf(events, undone, lineOf)
  if (undone.length > 0 && besides.length > 0)
    parts.push(`besides: ${summaryOf({ events: besides, author: {}, purges: [], forks: [] }, called, lineOf, known)}`)
  const head = events.some((e) => isWanted(e.entity)) ? wanted(`${does}: `) : `${does}: `
  const whole = (undone.length > 0 ? head : '') + [...new Set(parts)].join('; ')
  const changes = undone.length > MOST_NAMED ? undone.length : parts.length
  const more = changes > 1 ? ` (${changes} changes)` : ''
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST).toWellFormed()}…${more}` : whole
}

/** The status of what a link of the same batch says to be superseded. */
const isReplaced = (id: string, own: readonly Event[], all: readonly Event[]): boolean =>
  own.every((e) => e.field === 'status' || e.field === 'provenance') &&
  all.some((e) => kindOf(e.entity) === LINK_KIND && e.field === 'to' && e.value === id)

/** What an undo of a batch would do, by what the batch did. */
const undoing = (did: string): readonly [head: string, what: string] =>
  did.startsWith('took back: ')
    ? ['bring back: ', did.slice('took back: '.length)]
    : ['take back: ', did.replace(/^redid: /, '')]

/** A proposal within a proposal is not read: what names itself would have no end. */
const inside = (of: string, called: Called, longest?: number): string => {
  const name = called(of)
  return kindOf(of) === 'proposal' ? 'a proposal' : name || !of.includes(':') ? quoted(name || of, longest) : flat(of)
}

/** What somebody put up for a yes; nothing where it is not as we write it. */
export const putUp = (action: unknown, called: Called, did: Called, longest?: number): string | undefined =>
  attempt(() => {
    const [verb, args] = JSON.parse(String(action))
    const { ref, batch, allOf, batches, old, new: next, from, to, type, reason, ...rest } = args
    const undone = verb === 'undo' ? [batch ?? batches ?? []].flat().map(String) : []
    const what = undone.slice(0, MOST_NAMED).map((b) => undoing(did(b) ?? shortBatch(b)))
    if (undone.length > what.length) what.push([what.at(-1)![0], `… (${undone.length} batches)`])
    if (undone.length > 0)
      return [...Map.groupBy(what, ([head]) => head)].map(([head, all]) => head + all.map(([, w]) => w).join('; ')).join('; ') // biome-ignore format: a row
    if (verb === 'undo' && typeof allOf === 'string') return `undo all that session ${allOf} wrote`
    const named = (of: unknown) => (typeof of === 'string' ? ` ${inside(of, called, longest)}` : '')
    const key = keys.get(String(verb).replace(/^(?:record|delete)-/, '')) ?? 'name'
    const { [key]: name, ...more } = rest
    const it = ref === undefined && name !== undefined ? ` ${quoted(name, longest)}` : named(ref)
    const ends = old === undefined ? `${named(from)} ${type}${named(to)}` : `${named(old)} by${named(next)}`
    const fields = Object.entries(ref === undefined ? more : rest).map(([f, v]) => `${f}: ${inWords(v)}`)
    const values = fields.length > 0 ? ` (${fields.join(', ')})` : ''
    const why = typeof reason === 'string' ? `: ${reason}` : ''
    return `${verb.replace('-entities', '').replace('-', ' ')}${(old ?? from) === undefined ? it : ends}${values}${why}`
  })

const inWords = (value: unknown): string => flat(typeof value === 'string' ? value : JSON.stringify(value))

function said(
  id: string,
  events: readonly Event[],
  called: Called,
  did: Called,
  { isWanted, ...known }: Known,
): string {
  if (isWanted?.(id)) return wanted(said(id, events, called, did, known))
  const { last } = known
  const kind = kindOf(id)
  const put = (action: unknown): string => flat(putUp(action, called, did) ?? 'edit')
  const is = (of: string): string => {
    const action = kindOf(of) === 'proposal' ? called(of) : undefined
    return action === undefined ? inside(of, called) : `the proposal to ${put(action)}`
  }
  const value = (field: string) => events.findLast((e) => e.field === field && e.op === 'set')?.value
  const { s: state, reason } = (value(STATE) ?? {}) as { s?: StateValue['s']; reason?: unknown }
  if (events.some((e) => e.purged))
    return state === 'deleted' ? `erased a ${kind}` : `wrote of a ${kind} (erased since)`
  const because = (why: unknown) => (typeof why === 'string' && why !== UNDONE ? `: ${flat(why)}` : '')
  // what was recorded with it is told
  const no = state === 'created' ? undefined : known.no?.(events)
  if (no) return `rejected what others want of ${is(id)}${because(no.reason)}`
  const fields = [...new Set(events.map((e) => e.field))].filter((f) => f !== 'provenance')
  if (kind === LINK_KIND) {
    const [from, to, type] = ['from', 'to', 'type'].map((field) => value(field) ?? last?.(id, field))
    const [one, other] = [is(String(from)), is(String(to))]
    const link = from === undefined ? `the link ${called(id) ?? id}` : `${one} ${type} ${other}`
    if (state === 'deleted') return `unlinked ${link}${because(reason)}`
    if (state === undefined)
      return `changed ${link} (${fields.map((f) => `${f}: ${inWords(value(f) ?? null)}`).join(', ')})`
    return type === 'supersedes' ? `superseded ${other} by ${one}${because(value('description'))}` : `linked ${link}`
  }
  const name = value(keys.get(kind) ?? 'name')
  if (state === 'created' && kind === 'proposal') return `proposed to ${put(name)}`
  const standing = value('standing')
  if (state === 'created')
    return `${standing === 'proposed' ? standing : 'recorded'} ${kind} ${name === undefined ? id : quoted(name)}`
  if (state === 'deleted') return `deleted ${kind} ${is(id)}${because(reason)}`
  if (state === 'restored') return `brought back ${is(id)}`
  if (value('retired') !== undefined) return `retired ${is(id)}${because(value('retired'))}`
  if (events.some((e) => e.field === 'retired')) return `brought back ${is(id)}`
  if (standing === 'confirmed' || standing === 'rejected')
    return `${standing} ${is(id)}${because(events.find((e) => e.path?.[0] === 'rejected-because')?.value)}`
  if (name !== undefined) return `renamed ${is(id) === quoted(name) ? '' : `${is(id)} `}to ${quoted(name)}`
  const work = value('state')
  if (typeof work === 'string' && isWork(kind)) return `set ${is(id)} to ${work}`
  if (events.some((e) => isObject(e.value) && e.value.agrees)) return `accepted what others want of ${is(id)}`
  return fields.length === 0 ? `said ${is(id)} again` : `changed ${is(id)} (${fields.join(', ')})`
}
