import { UserError } from '../../base/errors.ts'
import type { Edge, Entity, Link } from '../../model/entity.ts'
import { displayName, kindOf, LINK_KIND, nameKey, standingOf } from '../../model/entity.ts'
import type { Registry } from '../../model/registry.ts'
import { STATE } from '../log/cells.ts'
import { foldOf } from '../log/context-value.ts'
import { cellsOf, type Event, overwritesOthers } from '../log/events.ts'
import type { Folded } from '../log/fold.ts'
import type { Db } from '../store/db.ts'
import { eventsOfUpTo, fieldsSince, listEventsUpTo, writtenUpTo } from '../store/log.ts'
import { getMeta } from '../store/meta.ts'
import * as rows from '../store/rows.ts'
import { edgesOf, entityOf, idsOf, isAsked, type ListOptions, newestFirst, type Reader } from './reader.ts'
import { candidates } from './references.ts'

const SUPERSEDES = 'supersedes'
const PAGE = 64

/** An entity that its row does not show as it is asked for, and the fields in which it may be another one. */
export interface Change extends rows.ChangedRow {
  readonly fields: ReadonlySet<string>
}

/** The knowledge otherwise than its rows say it: as of a moment, or, without one, without some lines. */
export interface Variant extends Reader {
  readonly at?: number
  changes(): ReadonlyMap<string, Change>
}

/** The knowledge as of a moment. @throws UserError `before-horizon` for one before the horizon of a compaction (K11). */
export function readAsOf(db: Db, registryNow: () => Registry, at: number): Variant {
  const horizon = Number(getMeta(db, 'horizon') ?? 0)
  if (at >= horizon) return new Past(db, registryNow, at)
  const what = `history before ${new Date(horizon).toISOString()} was compacted away`
  throw new UserError('before-horizon', what, 'ask for a later moment')
}

type Standing = Pick<rows.Listed, 'live' | 'retired' | 'standing'>

/**
 * Entities that nothing touched since are as their rows say; all others are folded from their events, when asked for. Its functions
 * are its own properties: who reads otherwise takes it apart.
 */
class Past implements Variant {
  readonly at: number
  readonly #db: Db
  readonly #registryNow: () => Registry
  readonly #folded = new Map<string, Entity | undefined>()
  #registry: Registry | undefined
  #touched: rows.ChangedRow[] | undefined
  #changes: Map<string, Change> | undefined
  #gone: rows.LinkRow[] | undefined
  #goneByEnd: Record<'src' | 'dst', Map<string, rows.LinkRow[]>> | undefined
  #renamed: string[] | undefined

  constructor(db: Db, registryNow: () => Registry, at: number) {
    this.#db = db
    this.#registryNow = registryNow
    this.at = at
  }

  #foldEach(ids: readonly string[]): void {
    const missing = ids.filter((id) => !this.#folded.has(id))
    if (missing.length === 0) return
    const states = foldUpTo(this.#db, this.registry(), missing, this.at)
    for (const id of missing) this.#folded.set(id, states.get(id))
  }

  #read(row: rows.EntityRow): Entity | undefined {
    if (row.updated <= this.at) return entityOf(row)
    this.#foldEach([row.id])
    return this.#folded.get(row.id)
  }

  #changedRows(): rows.ChangedRow[] {
    return (this.#touched ??= rows.changedSince(this.#db, this.at))
  }

  /** Of some rows the ids of those that were touched since. */
  #later(found: readonly { id: string; updated: number }[]): string[] {
    return found.flatMap((row) => (row.updated > this.at ? [row.id] : []))
  }

  /** Links that were there, and no longer are. */
  #goneLinks(): rows.LinkRow[] {
    if (this.#gone) return this.#gone
    const links = this.#changedRows().flatMap(({ id }) => (kindOf(id) === LINK_KIND ? [id] : []))
    const gone = this.entities(rows.linksGone(this.#db, links)).filter((e) => e.live)
    return (this.#gone = gone.map(({ id, fields: { from, type, to } }) => ({
      ...{ id, src: String(from), rel: String(type), dst: String(to) },
    })))
  }

  #goneAt(end: 'src' | 'dst', id: string): rows.LinkRow[] {
    const all = this.#goneLinks()
    this.#goneByEnd ??= { src: Map.groupBy(all, (l) => l.src), dst: Map.groupBy(all, (l) => l.dst) }
    return this.#goneByEnd[end].get(id) ?? []
  }

  /** Links at several entities; all that is read of them is read at once. */
  #linksAt(end: 'from' | 'to', ids: readonly string[], relations?: readonly string[]): Link[] {
    const [column, other] = end === 'from' ? (['src', 'dst'] as const) : (['dst', 'src'] as const)
    const all = [...rows.allLinksAt(this.#db, column, ids), ...ids.flatMap((id) => this.#goneAt(column, id))].filter(
      (l) => !relations || relations.includes(l.rel),
    )
    const there = new Map(this.entities([...new Set(all.flatMap((l) => [l.id, l[other]]))]).map((e) => [e.id, e]))
    const counting = all.flatMap((l): Link[] => {
      const e = there.get(l.id)
      const counts = e?.live && e.fields.standing !== 'rejected' && there.get(l[other])?.live
      return counts ? [{ id: l.id, from: l.src, to: l.dst, type: l.rel, entity: e }] : []
    })
    const byEnd = Map.groupBy(
      counting.sort((a, b) => (a.type + a.from + a.to < b.type + b.from + b.to ? -1 : 1)),
      (l) => l[end],
    )
    return ids.flatMap((id) => byEnd.get(id) ?? [])
  }

  #aliveOf(ids: readonly string[], known: ReadonlyMap<string, Standing>): Map<string, boolean> {
    const asked = ids.filter((id) => !known.has(id))
    const found = rows.standingOfIds(this.#db, asked)
    const was = this.#stateOfEach(this.#later(found))
    const then = new Map<string, Standing>(
      found.map((row) => [row.id, row.updated <= this.at ? row : listedAs(was.get(row.id))]),
    )
    return new Map(
      ids.flatMap((id) => {
        const { live, retired, standing } = known.get(id) ?? then.get(id) ?? { live: 0, retired: 0, standing: '' }
        return live ? [[id, !retired && standing === 'confirmed'] as const] : []
      }),
    )
  }

  /** What lists show of those that something touched since. */
  #stateOfEach(ids: readonly string[], ...also: string[]): Map<string, Folded | Entity | undefined> {
    const was = foldForLists(this.#db, ids, this.at, also)
    this.#foldEach(ids.filter((id) => !was.has(id)))
    return new Map(ids.map((id) => [id, was.get(id) ?? this.#folded.get(id)]))
  }

  /** Those of these that another one had taken the place of; with `whatever` false, without those that have a status. */
  #replacedOf(ids: readonly string[], whatever = true, known: ReadonlyMap<string, Standing> = new Map()): Set<string> {
    const all = [...rows.linksInto(this.#db, SUPERSEDES, ids), ...ids.flatMap((id) => this.#goneAt('dst', id))]
    const taking = all.filter((l) => l.rel === SUPERSEDES)
    const alive = this.#aliveOf([...new Set(taking.map((l) => l.id))], known)
    const newer = new Map(this.entities([...new Set(taking.map((l) => l.src))]).map((e) => [e.id, e.fields]))
    const isInPlace = (l: rows.LinkRow) => alive.get(l.id) && standingOf(newer.get(l.src) ?? {}) === 'confirmed'
    const old = new Set(taking.flatMap((l) => (isInPlace(l) ? [l.dst] : [])))
    if (whatever) return old
    const said = rows.rowsOfIds(this.#db, writtenUpTo(this.#db, [...old], 'status', this.at))
    const was = this.#stateOfEach(this.#later(said), 'status')
    for (const row of said) {
      const { status } = (row.updated > this.at ? was.get(row.id) : entityOf(row))?.fields ?? {}
      if (status !== undefined) old.delete(row.id)
    }
    return old
  }

  /** What of a kind was alive, newest first, as lists show it. */
  #listed(kind: string, o: ListOptions): rows.Listed[] {
    const touched = rows.touchedSince(this.#db, kind, this.at)
    const was = this.#stateOfEach(touched.flatMap((row) => (row.changed ? [row.id] : [])))
    const then = touched.map((row): rows.Listed => (row.changed ? { ...row, ...listedAs(was.get(row.id)) } : row))
    const known = [...rows.untouchedSince(this.#db, kind, this.at), ...then]
    const asked = known.filter(
      (row) =>
        row.live &&
        (o.since === undefined || row.created >= o.since) &&
        (o.standing ? row.standing === o.standing : o.all || (!row.retired && row.standing !== 'rejected')),
    )
    const lostLink = (id: string) => this.#goneAt('dst', id).some((l) => l.rel === SUPERSEDES)
    const perhaps = o.standing || o.all ? [] : asked.filter((row) => row.replaced || lostLink(row.id))
    const replaced = this.#replacedOf(
      perhaps.map((row) => row.id),
      o.current ?? false,
      new Map(known.map((row) => [row.id, row])),
    )
    return asked.filter((row) => !replaced.has(row.id)).sort(newestFirst)
  }

  *#pages(ids: readonly string[]): Generator<Entity> {
    for (let i = 0; i < ids.length; i += PAGE) yield* this.entities(ids.slice(i, i + PAGE))
  }

  #renamedSince(): string[] {
    // a restored entity may have lost the name that somebody else gave it meanwhile
    const isNamed = ({ id, fields }: Change) =>
      fields.has(STATE) || (this.registry().kind(kindOf(id))?.key ?? []).some((f) => fields.has(f))
    return (this.#renamed ??= [...this.changes().values()].flatMap((c) => (isNamed(c) ? [c.id] : [])))
  }

  readonly registry = (): Registry => (this.#registry ??= this.#registryNow())

  readonly changes = (): Map<string, Change> => {
    if (this.#changes) return this.#changes
    const found = this.#changedRows()
    const ids = found.map((row) => row.id)
    const fields = fieldsSince(this.#db, ids, this.at)
    return (this.#changes = new Map(found.map((row) => [row.id, { ...row, fields: fields.get(row.id)! }])))
  }

  readonly entity = (id: string): Entity | undefined => {
    if (this.#folded.has(id)) return this.#folded.get(id)
    const row = rows.getRow(this.#db, id)
    return row && this.#read(row)
  }

  readonly entities = (ids: readonly string[]): Entity[] => {
    const found = new Map(rows.rowsOfIds(this.#db, ids).map((row) => [row.id, row]))
    this.#foldEach(this.#later([...found.values()]))
    return ids.flatMap((id) => (found.has(id) ? (this.#read(found.get(id)!) ?? []) : []))
  }

  readonly byName = (key: string): Entity[] => {
    const ids = new Set([...rows.rowsByName(this.#db, key).map((row) => row.id), ...this.#renamedSince()])
    return this.entities([...ids].sort()).filter((e) => nameKey(e.name) === key)
  }

  readonly allIds = (): string[] => rows.allKinds(this.#db).flatMap((kind) => rows.idsAt(this.#db, kind, this.at))

  readonly list = (kind: string, o: ListOptions = {}): Entity[] => {
    const found = this.#pages(this.#listed(kind, o).map((row) => row.id)).filter((e) => isAsked(e, o))
    return [...found.take(o.limit ?? Number.POSITIVE_INFINITY)]
  }

  readonly ids = (kinds: string | readonly string[], o: ListOptions = {}): string[] =>
    idsOf(kinds, o, (kind, of) => (of.session === undefined ? this.#listed(kind, of) : this.list(kind, of)))

  readonly links = (end: 'from' | 'to', id: string): Link[] => this.#linksAt(end, [id])

  readonly edges = (end: 'from' | 'to', ids: readonly string[], relations?: readonly string[]): Edge[] =>
    edgesOf(this.#linksAt(end, ids, relations))

  readonly replaced = (ids: readonly string[]): Set<string> => this.#replacedOf(ids)

  readonly linksOf = (relations: readonly string[]): Omit<Link, 'entity'>[] =>
    [...rows.linksOf(this.#db, relations), ...this.#goneLinks().filter((l) => relations.includes(l.rel))]
      .filter((l) => this.entity(l.id)?.live)
      .map((l) => ({ id: l.id, from: l.src, to: l.dst, type: l.rel }))

  readonly search = (question: string, limit: number, only?: readonly string[]): Entity[] => {
    const asked = question.slice(0, 10_000).toLowerCase()
    const words = asked.match(/[\p{L}\p{N}]+/gu) ?? []
    return this.registry()
      .visibleKinds()
      .filter((k) => !only || only.includes(k.name))
      .flatMap((k) => this.list(k.name))
      .map((e) => ({ e, score: words.filter((w) => JSON.stringify(e.fields).toLowerCase().includes(w)).length }))
      .filter((x) => x.score > 0)
      .sort((a, b) => b.score - a.score || newestFirst(a.e, b.e))
      .slice(0, limit)
      .map((x) => x.e)
  }

  readonly conflicts = (): Entity[] => [...this.#pages(this.allIds())].filter((e) => e.conflicts.length > 0)

  readonly counts = (): { kind: string; n: number }[] =>
    rows
      .allKinds(this.#db)
      .map((kind) => ({ kind, n: this.#listed(kind, { all: true }).length }))
      .filter((c) => c.n > 0)
      .sort((a, b) => b.n - a.n || (a.kind < b.kind ? -1 : 1))

  readonly find = (ref: string, deleted?: boolean): Entity[] => candidates(this, ref).filter((e) => e.live || deleted)
}

const listedAs = (e: Pick<Entity, 'live' | 'created' | 'fields'> | undefined) => ({
  live: e?.live ? 1 : 0,
  created: e?.created ?? 0,
  retired: e?.fields.retired === undefined ? 0 : 1,
  standing: standingOf(e?.fields ?? {}),
})

/** The same of several, with some more fields and without what lists do not show; those whose beginning is known. */
function foldForLists(db: Db, ids: readonly string[], at: number, also: readonly string[]): Map<string, Folded> {
  const events = listEventsUpTo(db, ids, at, also).map((e) => e.event)
  const known = new Set(events.flatMap((e) => (e.field === STATE ? [e.entity] : [])))
  const begun = events.filter((e) => known.has(e.entity))
  const byEntity = Map.groupBy(begun, (e) => e.entity)
  const others = laterOf(db, byEntity, at)
  return new Map([...byEntity].map(([id, own]) => [id, foldOf(id, cellsOf(own, others.get(id)))]))
}

/** What happened after the moment, of those entities where something before it has replaced it: the clocks differed. */
function laterOf(db: Db, byEntity: ReadonlyMap<string, readonly Event[]>, at: number): Map<string, Event[]> {
  const asked = [...byEntity].flatMap(([id, events]) => (overwritesOthers(events) ? [id] : []))
  if (asked.length === 0) return new Map()
  const later = eventsOfUpTo(db, asked, Number.MAX_SAFE_INTEGER).flatMap(({ ms, event }) => (ms > at ? [event] : []))
  return Map.groupBy(later, (e) => e.entity)
}

function foldUpTo(db: Db, registry: Registry, ids: readonly string[], at: number): Map<string, Entity> {
  const isCompacted = getMeta(db, 'horizon') !== undefined
  const byEntity = Map.groupBy(eventsOfUpTo(db, ids, at), (e) => e.event.entity)
  const others = laterOf(db, new Map([...byEntity].map(([id, own]) => [id, own.map((e) => e.event)])), at)
  return new Map(
    [...byEntity].map(([id, events]) => {
      const own = events.map((e) => e.event)
      const { live, created, fields, conflicts } = foldOf(id, cellsOf(own, others.get(id)))
      // what touched it last may have been folded away by a compaction; the horizon lies after it
      const base = isCompacted ? rows.foldedOf(db, id) : undefined
      const updated = own.reduce((max, e) => Math.max(max, e.stamp.ms), base?.updated ?? 0)
      const kind = kindOf(id)
      const name = displayName(registry.kind(kind), fields)
      const version = new Set(events.map((e) => e.batch)).size
      return [id, { id, kind, name, fields, live, created, updated, version, conflicts }]
    }),
  )
}
