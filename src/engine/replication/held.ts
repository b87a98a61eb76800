import { keptIn } from '../../base/lookup.ts'
import { screen } from '../../base/secrets/screen.ts'
import { isGuarded as isKnowledge } from '../../model/authority.ts'
import { canonical } from '../../model/canonical.ts'
import { type Entity, isDefinition, KIND_KIND, kindOf, LINK_KIND } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { isObject } from '../../model/object.ts'
import type { Registry } from '../../model/registry.ts'
import { STATE } from '../log/cells.ts'
import { foldOf } from '../log/context-value.ts'
import { cellsOf, type Event } from '../log/events.ts'
import { projectionOf, rowOf, textOf } from '../materialize/apply.ts'
import { entityOf } from '../read/reader.ts'
import type { Db } from '../store/db.ts'
import * as heldRows from '../store/held.ts'
import { isTombstone, type PurgeMark } from '../store/line.ts'
import { getMeta } from '../store/meta.ts'
import type { Arrived } from '../store/own-lines.ts'
import * as ownLines from '../store/own-lines.ts'
import { allIds, type EntityRow, getRow, idsOfKind, linkOf } from '../store/rows.ts'
import { indexedText } from '../store/text-index.ts'
import * as vouching from './vouched.ts'

/** Whether lines of others change an entity only once somebody here has agreed, if somebody here stands by it. */
const isGuarded = (id: string): boolean => isKnowledge(kindOf(id)) && !isTombstone(id)

const AT_ONCE = 400

interface Settling {
  readonly db: Db
  readonly decides: (e: Arrived) => boolean
  readonly isPeers: (e: Arrived) => boolean
  readonly isOwn: (e: Arrived) => boolean
  /** What had come by then counts as it did. */
  readonly from: number
  readonly words: Map<string, heldRows.Endorsed>
}

function settlingOf(db: Db): Settling {
  const decides = vouching.decidingLines(db)
  const isOwn = ownLines.ownLines(db)
  const known = new Map<string, boolean>()
  const isPeers = ({ event: { entity }, replica, seq }: Arrived) =>
    keptIn(known, entity, () => ownLines.touchedByPeers(db, [entity]).length > 0) &&
    ownLines.isOfPeers(db, replica, seq)
  return {
    db,
    decides: (e) => decides(e.replica, e.seq) && !isPeers(e),
    isPeers: (e) => decides(e.replica, e.seq) && isPeers(e),
    isOwn: (e) => isOwn(e.replica, e.seq),
    from: Number(getMeta(db, 'held_from') ?? 0),
    words: new Map(),
  }
}

/** Whether somebody agrees to all that had come here by then. Who was elsewhere agrees to the words that the digest is of. */
function agreesToAll(s: Settling, id: string, e: Arrived, events: readonly Arrived[]): boolean {
  if (!vouching.isAgreement(e)) return false
  if (s.isOwn(e)) return true
  const { live, fields } = foldOf(id, cellsOf(events.filter((o) => o.n <= e.n).map((o) => o.event)))
  // a digest says nothing of a deletion or a rejection
  return (
    live &&
    vouching.isStanding(fields) &&
    isObject(e.event.value) &&
    e.event.value.confirms === vouching.contentDigest({ id, fields })
  )
}

/** `all`: what happened to it, if that is more than `events`. */
function wordsOn(s: Settling, id: string, events: readonly Arrived[], all = events): heldRows.Endorsed {
  let words = s.words.get(id)
  if (words) return words
  const kept = heldRows.endorsedBefore(s.db, id)
  words = { first: kept?.first ?? Number.POSITIVE_INFINITY, agreed: kept?.agreed ?? 0 }
  for (const e of events) {
    if (!s.decides(e)) continue
    if (agreesToAll(s, id, e, all)) words = { ...words, agreed: Math.max(words.agreed, e.n) }
    if (!vouching.endorses(e.event.field, e.event.value)) continue
    // when a folded line came is kept apart
    words = { ...words, first: Math.min(words.first, e.n === 0 && kept ? kept.first : e.n) }
  }
  if (Number.isFinite(words.first))
    words = { ...words, agreed: Math.max(words.agreed, vouching.agreedUpTo(id, all, s.decides)) }
  s.words.set(id, words)
  return words
}

/** What a link that may hide something ends at. */
function hiddenBy(id: string, events: readonly Arrived[]): string[] {
  if (kindOf(id) !== LINK_KIND) return []
  const said = (field: string) => events.flatMap(({ event: e }) => (e.field === field ? [e.value] : []))
  return said('type').includes('supersedes') ? said('to').filter((v) => typeof v === 'string') : []
}

/** The events of others that count only once somebody here has agreed. */
function waitingAmong(s: Settling, id: string, events: readonly Arrived[], ends: readonly string[]): Set<Arrived> {
  const own = wordsOn(s, id, events)
  const first = ends.reduce((min, end) => Math.min(min, s.words.get(end)?.first ?? min), own.first)
  const from = Math.max(first, own.agreed, s.from)
  const waits = (e: Arrived) => e.n > from && !vouching.BESIDE.has(e.event.field) && !s.decides(e) && !s.isPeers(e)
  return new Set(Number.isFinite(first) ? events.filter(waits) : [])
}

const isErasedIn = (mark: heldRows.Asked, e: Arrived): boolean =>
  mark.replica === e.replica && mark.seq === e.seq && (mark.writes?.includes(e.event.stamp.ctr) ?? true)

/** What our own detector finds is hidden as soon as somebody asks for it. */
const saysSecret = (events: readonly Arrived[]): boolean =>
  events.some(({ event: { value, path = [] } }) => screen([value ?? null, path], false).secrets.length > 0)

/** What is told of an entity, to compare: nothing else of it waits. */
const saidOf = (row: EntityRow | undefined): string => {
  if (!row?.live) return ''
  const { fields, name } = entityOf(row)
  return canonical([name, Object.fromEntries(Object.entries(fields).filter(([f]) => !vouching.BESIDE.has(f)))] as Json)
}

const namesOf = (db: Db, id: string): string[] =>
  [heldRows.heldOf(db, id)?.row, getRow(db, id)].flatMap((row) => (row ? entityOf(row).name : []))

/** Brings what holds here in line with the lines that are here, for some entities. The caller holds the write lock. */
export function settleHeld(db: Db, registry: () => Registry, touched: Iterable<string>): void {
  if (!ownLines.hasOthers(db) && !heldRows.isAnyHeld(db)) return
  const s = settlingOf(db)
  const ids = [...new Set(touched)].filter(isGuarded)
  const kinds = ids.filter(isDefinition)
  const before = kinds.map((id) => heldRows.heldOf(db, id)?.row?.body)
  settleSome(s, registry, kinds)
  const changed = kinds.filter((id, i) => kindOf(id) === KIND_KIND && before[i] !== heldRows.heldOf(db, id)?.row?.body)
  const names = changed.flatMap((id) => namesOf(db, id))
  settleSome(s, registry, [...ids.filter((id) => !isDefinition(id)), ...names.flatMap((name) => idsOfKind(db, name))])
}

function settleSome(s: Settling, registry: () => Registry, all: readonly string[]): void {
  const { db } = s
  const there = new Set(heldRows.heldIds(db))
  const declared = new Set([...there].flatMap((id) => (kindOf(id) === KIND_KIND ? namesOf(db, id) : [])))
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = all.slice(at, at + AT_ONCE)
    const elsewhere = new Set(ownLines.touchedElsewhere(db, some))
    const ids = some.filter((id) => elsewhere.has(id) || there.has(id) || declared.has(kindOf(id)))
    if (ids.length === 0) continue
    const events = Map.groupBy(ownLines.eventsOfAll(db, ids), (e) => e.event.entity)
    const ends = new Map(ids.map((id) => [id, hiddenBy(id, events.get(id) ?? []).filter(isGuarded)]))
    const targets = [...new Set([...ends.values()].flat())].filter((end) => !s.words.has(end))
    const ofTargets = Map.groupBy(ownLines.eventsOfAll(db, targets), (e) => e.event.entity)
    for (const end of targets) wordsOn(s, end, ofTargets.get(end) ?? [])
    for (const id of ids) settle(s, registry, id, events.get(id) ?? [], ends.get(id)!, declared.has(kindOf(id)))
  }
}

function settle(
  s: Settling,
  registry: () => Registry,
  id: string,
  events: readonly Arrived[],
  ends: readonly string[],
  isReadOtherwise: boolean,
): void {
  const { db } = s
  if (heldRows.heldOf(db, id)?.frozen) return
  const waiting = waitingAmong(s, id, events, ends)
  const lines = new Map([...waiting].map((e) => [e.batch, { replica: e.replica, seq: e.seq, n: e.n }]))
  const asked = heldRows.askedOf(db, id)
  const isShown = Number.isFinite(wordsOn(s, id, events).first)
  const hidden = asked.filter((a) => !isShown || saysSecret(events.filter((e) => isErasedIn(a, e))))
  if (waiting.size === 0 && hidden.length === 0 && !isReadOtherwise) {
    heldRows.dropHeld(db, id) // it holds as its row says
    return
  }
  const kept = events.filter(
    (e) =>
      !waiting.has(e) &&
      !(e.event.field === 'provenance' && lines.has(e.batch)) &&
      !hidden.some((mark) => isErasedIn(mark, e)),
  )
  const row = getRow(db, id)
  if (!row) return void heldRows.dropHeld(db, id)
  const made =
    kept.length === 0
      ? undefined
      : projectionOf(registry(), id, cellsOf(kept.map((e) => e.event)), row.updated, row.version)
  const vouched = made !== undefined && vouching.vouchedBy(db, [id], kept, () => entityOf(made.row)).has(id)
  const isSame = saidOf(row) === saidOf(made?.row)
  if (isSame && (!row.live || vouched === vouching.vouchedBy(db, [id], events, () => entityOf(row)).has(id)))
    heldRows.dropHeld(db, id)
  else {
    const told = isSame ? [] : [...lines.values()].sort((a, b) => a.n - b.n)
    heldRows.putHeld(db, kindOf(id), { id, row: made?.row, link: made?.link, lines: told, vouched }, made?.text)
  }
}

/** The same for all that is here. */
export const settleAll = (db: Db, registry: () => Registry): void =>
  settleHeld(db, registry, [...allIds(db), ...heldRows.heldIds(db)])

/** What holds here stays as it is, although what it is made of goes. */
function freeze(db: Db, registry: Registry, held: heldRows.Held, frozen: heldRows.Frozen): void {
  heldRows.putHeld(db, kindOf(held.id), { ...held, frozen }, held.row && textIn(registry, held.row))
}

/** A field as it holds here, with what was written; of a list what was added and removed alone: its other items may be those of others. */
function sayInField(before: Json | undefined, now: Json | undefined, events: readonly Event[]): Json | undefined {
  if (!events.every((e) => e.op === 'add' || e.op === 'remove')) return now
  let items = Array.isArray(before) ? before : []
  for (const { op, value = null } of events) {
    const rest = items.filter((item) => canonical(item) !== canonical(value))
    items = op === 'add' && rest.length === items.length ? [...items, value] : op === 'add' ? items : rest
  }
  return items.length === 0 ? undefined : items
}

/** What this store writes is read at once, also where an entity stays as it was: the rest of what others want goes on waiting. */
export function sayInFrozen(db: Db, registry: Registry, events: readonly Event[]): void {
  if (!heldRows.isAnyHeld(db)) return
  for (const [id, said] of Map.groupBy(events, (e) => e.entity)) {
    const held = heldRows.heldOf(db, id)
    if (!held?.frozen) continue
    const now = getRow(db, id)
    const wanted = now && entityOf(now)
    if (!wanted?.live || !held.row) {
      heldRows.dropHeld(db, id)
      continue
    }
    const before = entityOf(held.row)
    const fields: { [field: string]: Json } = { ...before.fields }
    for (const [field, events] of Map.groupBy(said, (e) => e.field)) {
      if (field === STATE) continue
      const value = sayInField(before.fields[field], wanted.fields[field], events)
      if (value === undefined) delete fields[field]
      else fields[field] = value
    }
    const folded = { fields, live: true, created: before.created, conflicts: [...before.conflicts] }
    const row = rowOf(id, folded, now!, registry)
    if (saidOf(row) === saidOf(now)) heldRows.dropHeld(db, id)
    else freeze(db, registry, { ...held, row }, held.frozen)
  }
}

function nowOf(db: Db, id: string): heldRows.Held | undefined {
  const there = heldRows.heldOf(db, id)
  if (there) return there.row && there
  const row = getRow(db, id)
  return row && { id, row, link: linkOf(db, id), lines: [], vouched: vouching.vouchedFor({ db }, [id]).has(id) }
}

/** Its author erases what somebody here stands by: it goes, but what holds here stays until somebody decides. No secret does. */
export function freezeErased(db: Db, registry: Registry, id: string, mark: PurgeMark, by: string): void {
  if (!isGuarded(id) || !isEndorsed(db, id)) return
  settleHeld(db, () => registry, [id]) // what came in the same delivery waits as well
  const now = nowOf(db, id)
  if (!now?.row?.live || heldRows.heldOf(db, id)?.frozen) return
  if (saysSecret(ownLines.eventsOfAll(db, [id]).filter((e) => isErasedIn({ ...mark, by }, e)))) return
  const [replica = '', seq] = by.split(':')
  const lines = by === '' ? now.lines : [...now.lines, { replica, seq: Number(seq) }]
  freeze(db, registry, { ...now, lines }, 'erased')
}

/** Takes in a folded state, or more of a line. What it changes of what somebody here stands by stays as it was until they decide. */
export function guarded(
  db: Db,
  registry: Registry,
  entities: readonly string[],
  take: (upheld: ReadonlySet<string>) => ReadonlySet<string>,
  came: 'folded' | 'more' = 'folded',
): ReadonlySet<string> {
  const before = entities.filter((id) => isGuarded(id) && isEndorsed(db, id)).flatMap((id) => nowOf(db, id) ?? [])
  const links = entities.filter((id) => kindOf(id) === LINK_KIND && !hidesHere(db, id))
  const said = new Map(came === 'more' ? before.map(({ id }) => [id, saidOf(getRow(db, id))]) : [])
  const touched = take(new Set(before.flatMap((now) => (now.vouched ? [now.id] : []))))
  // what waits of others may hide in the row what is read without it
  const open = before.filter(({ id }) => !heldRows.heldOf(db, id)?.frozen)
  settleHeld(db, () => registry, new Set(open.map(({ id }) => id)))
  for (const now of open) {
    const row = getRow(db, now.id)
    const read = heldRows.heldOf(db, now.id) ?? { row }
    if (saidOf(row) !== said.get(now.id) && saidOf(read.row) !== saidOf(now.row)) freeze(db, registry, now, 'folded')
  }
  // what would take the place of something that somebody here stands by does not until they decide
  for (const id of links)
    if (hidesHere(db, id) && !heldRows.heldOf(db, id))
      freeze(db, registry, { id, row: undefined, lines: [], vouched: false }, 'folded')
  return touched
}

/** Whether it is a link which says that something takes the place of what somebody here stands by. */
function hidesHere(db: Db, id: string): boolean {
  const link = linkOf(db, id)
  return link?.rel === 'supersedes' && isGuarded(link.dst) && isEndorsed(db, link.dst)
}

function textIn(registry: Registry, row: EntityRow) {
  const e: Entity = entityOf(row)
  const kind = registry.kind(e.kind)
  return e.live && kind && !kind.internal ? indexedText(textOf(e.name, e, kind)) : undefined
}

export function reindexHeld(db: Db, registry: Registry): void {
  for (const held of heldRows.isAnyHeld(db) ? heldRows.allHeld(db).reverse() : [])
    heldRows.putHeld(db, kindOf(held.id), held, held.row && textIn(registry, held.row))
}

export const isEndorsed = (db: Db, id: string): boolean =>
  Number.isFinite(wordsOn(settlingOf(db), id, ownLines.eventsOfAll(db, [id])).first)

/** Keeps when somebody here stood by what, of lines that are to be folded away or to stand under another name. */
export function keepEndorsements(db: Db, lines: readonly { replica: string; first: number; last: number }[]): void {
  const s = settlingOf(db)
  for (const l of lines)
    for (const [id, events] of Map.groupBy(ownLines.eventsIn(db, l.replica, l.first, l.last), (e) => e.event.entity)) {
      const { first, agreed } = wordsOn({ ...s, words: new Map() }, id, events, ownLines.eventsOfAll(db, [id]))
      if (Number.isFinite(first) || agreed > 0) heldRows.keepEndorsed(db, id, { first, agreed })
    }
}
