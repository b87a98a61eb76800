import { attempt } from '../../base/errors.ts'
import { kindOf, LINK_KIND } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { KINDS } from '../../model/kinds/index.ts'
import { isWork } from '../../model/work-kinds.ts'
import { STATE, type StateValue, UNDONE } from '../log/cells.ts'
import type { Event } from '../log/events.ts'
import type { Db } from './db.ts'
import { shortBatch } from './keys.ts'
import type { Line } from './line.ts'
import { eventsOf } from './log.ts'

const LONGEST = 200
const LONGEST_NAME = 60

const keys: ReadonlyMap<string, string> = new Map(KINDS.map((k) => [k.name, k.key[0]]))

/** On one line: what others said makes no line of its own. */
const flat = (said: unknown): string => String(said).replace(/\s+/g, ' ').trim()

const quoted = (name: Json | undefined): string => {
  const text = flat(name)
  return `"${text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME).toWellFormed()}…` : text}"`
}

/** What an entity is called now; nothing where that is not known. */
export type Called = (id: string) => string | undefined

/** What something deleted was called last; nothing where that was erased. */
export function calledLast(db: Db, id: string): string | undefined {
  const field = keys.get(kindOf(id)) ?? 'name'
  return eventsOf(db, id).findLast((e) => e.event.field === field && e.event.value !== undefined)?.event.value as string
}

/** So many undos of undos are followed, and so many batches named that were taken back: more fill no line. */
const MOST_UNDOES = 50
const MOST_NAMED = 20

/** What an undo took back in the end, or a redo brought back: of several batches those that are no undos themselves. */
export function undoOf(batches: readonly string[], lineOf: (batch: string) => Line | undefined) {
  const undoes = (batch: string) => lineOf(batch)?.author.undoes ?? []
  let [undone, isRedo] = [batches, false]
  for (let n = 0; n < MOST_UNDOES && undone.length === 1 && undoes(undone[0]!).length > 0; n++)
    [undone, isRedo] = [undoes(undone[0]!), !isRedo]
  const wrote = undone.filter((batch) => undoes(batch).length === 0)
  return { does: isRedo ? 'redid' : 'took back', undone: wrote.length > 0 ? wrote : undone }
}

/** What a batch did, in a line. It is read off the events whenever it is shown: no batch says it of itself. */
export function summaryOf(
  { events, author, purges, forks }: Pick<Line, 'events' | 'author' | 'purges' | 'forks'>,
  called: Called = () => undefined,
  lineOf: (batch: string) => Line | undefined = () => undefined,
  isWhole = true,
): string {
  const { does, undone } = undoOf(author.undoes ?? [], lineOf)
  // what it proposes to undo is told, and not what that proposes in turn
  const did = (batch: string) => {
    const line = isWhole ? lineOf(batch) : undefined
    return line && summaryOf(line, called, lineOf, false)
  }
  const written = new Set(events.map((e) => e.entity))
  // what was undone already, or changed since and left, is not touched
  const told = undone.slice(0, MOST_NAMED).flatMap((batch) => {
    const line = lineOf(batch)
    const own = line?.events.filter((e) => written.has(e.entity))
    return own?.length ? summaryOf({ ...line!, events: own }, called) : []
  })
  const parts =
    undone.length > 0
      ? told
      : [
          ...forks.map(
            (f) => `two stores wrote as ${f.replica}: from line ${f.from} on it is said again under other identities`,
          ),
          ...[...Map.groupBy(events, (e) => e.entity)].flatMap(([id, own]) =>
            isReplaced(id, own, events) ? [] : [said(id, own, called, did)],
          ),
        ]
  if (parts.length === 0) parts.push(...undone.slice(0, MOST_NAMED).map(shortBatch))
  if (parts.length === 0 && purges.length > 0) parts.push(`erased from ${purges.length} batches`)
  const whole = (undone.length > 0 ? `${does}: ` : '') + [...new Set(parts)].join('; ')
  const changes = undone.length > MOST_NAMED ? undone.length : parts.length
  const more = changes > 1 ? ` (${changes} changes)` : ''
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST).toWellFormed()}…${more}` : whole
}

/** The status of what a link of the same batch says to be superseded. */
const isReplaced = (id: string, own: readonly Event[], all: readonly Event[]): boolean =>
  own.every((e) => e.field === 'status' || e.field === 'provenance') &&
  all.some((e) => kindOf(e.entity) === LINK_KIND && e.field === 'to' && e.value === id)

/** What an undo of a batch would do, by what the batch did. */
export const undoing = (did: string): string =>
  did.startsWith('took back: ') ? did.replace('took back', 'bring back') : `take back: ${did.replace(/^redid: /, '')}`

/** What somebody put up for a yes. @throws where it is not as we write it. */
function edit(action: string, is: (of: string) => string, did: (batch: string) => string | undefined): string {
  const [verb, { ref, batch, allOf, old, new: next, reason }] = JSON.parse(action)
  if (verb === 'undo' && typeof batch === 'string') return undoing(did(batch) ?? shortBatch(batch))
  if (verb === 'undo' && typeof allOf === 'string') return `undo all that session ${allOf} wrote`
  const named = (of: unknown) => (typeof of === 'string' ? ` ${is(of)}` : '')
  const what = old === undefined ? named(ref) : `${named(old)} by${named(next)}`
  return `${verb}${what}${typeof reason === 'string' ? `: ${reason}` : ''}`
}

function said(
  id: string,
  events: readonly Event[],
  called: Called,
  did: (batch: string) => string | undefined,
): string {
  const kind = kindOf(id)
  // a proposal within a proposal is not read: what names itself would have no end
  const inside = (of: string): string => {
    const name = called(of)
    return kindOf(of) === 'proposal' ? 'a proposal' : name ? quoted(name) : flat(of)
  }
  const put = (action: unknown): string => flat(attempt(() => edit(String(action), inside, did)) ?? 'edit')
  const is = (of: string): string => {
    const action = kindOf(of) === 'proposal' ? called(of) : undefined
    return action === undefined ? inside(of) : `the proposal to ${put(action)}`
  }
  const value = (field: string) => events.findLast((e) => e.field === field && e.op === 'set')?.value
  if (events.some((e) => e.purged)) return `erased ${id}`
  const { s: state, reason } = (value(STATE) ?? {}) as { s?: StateValue['s']; reason?: unknown }
  const because = (why: unknown) => (typeof why === 'string' && why !== UNDONE ? `: ${flat(why)}` : '')
  if (kind === LINK_KIND) {
    const [from, to, type] = [value('from'), value('to'), value('type')]
    if (state !== 'created' || type === undefined)
      return `${state === 'deleted' ? 'removed' : 'changed'} the link ${called(id) ?? id}`
    const [one, other] = [is(String(from)), is(String(to))]
    if (type !== 'supersedes') return `linked ${one} ${type} ${other}`
    return `superseded ${other} by ${one}${because(value('description'))}`
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
  if (standing === 'confirmed' || standing === 'rejected') return `${standing} ${is(id)}`
  if (name !== undefined) return `renamed ${is(id) === quoted(name) ? '' : `${is(id)} `}to ${quoted(name)}`
  const work = value('state')
  if (typeof work === 'string' && isWork(kind)) return `set ${is(id)} to ${work}`
  const fields = [...new Set(events.map((e) => e.field))].filter((f) => f !== 'provenance')
  return fields.length === 0 ? `said ${is(id)} again` : `changed ${is(id)} (${fields.join(', ')})`
}
