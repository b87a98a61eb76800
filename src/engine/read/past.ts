import { UserError } from '../../base/errors.ts'
import {
  displayName,
  type Entity,
  isAgreed,
  kindOf,
  LINK_KIND,
  type Link,
  nameKey,
  standingOf,
} from '../../model/entity.ts'
import type { Registry } from '../../model/registry.ts'
import { STATE } from '../log/cells.ts'
import { foldOf } from '../log/context-value.ts'
import { cellsOf, type Event, overwritesOthers } from '../log/events.ts'
import type { Folded } from '../log/fold.ts'
import type { Db } from '../store/db.ts'
import { eventsOfUpTo, fieldsSince, listEventsUpTo, writtenUpTo } from '../store/log.ts'
import { getMeta } from '../store/meta.ts'
import * as rows from '../store/rows.ts'
import { entityOf, idsOf, isAsked, type ListOptions, newestFirst, type Reader } from './reader.ts'
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

/** The knowledge as of a moment: entities touched since are folded from their events, when asked for. Refused before the horizon (K11). */
export function readAsOf(db: Db, registryNow: () => Registry, at: number): Variant {
  let kinds: Registry | undefined
  const registry = () => (kinds ??= registryNow())
  const horizon = Number(getMeta(db, 'horizon') ?? 0)
  if (at < horizon) {
    throw new UserError(
      'before-horizon',
      `history before ${new Date(horizon).toISOString()} was compacted away`,
      'ask for a later moment',
    )
  }
  const folded = new Map<string, Entity | undefined>()
  const foldEach = (ids: readonly string[]): void => {
    const missing = ids.filter((id) => !folded.has(id))
    if (missing.length === 0) return
    const states = foldUpTo(db, registry(), missing, at)
    for (const id of missing) folded.set(id, states.get(id))
  }
  const read = (row: rows.EntityRow) => {
    if (row.updated <= at) return entityOf(row)
    foldEach([row.id])
    return folded.get(row.id)
  }
  const entity = (id: string) => {
    if (folded.has(id)) return folded.get(id)
    const row = rows.getRow(db, id)
    return row && read(row)
  }
  const isLive = (id: string) => entity(id)?.live === true

  let touched: rows.ChangedRow[] | undefined
  const touchedRows = () => (touched ??= rows.changedSince(db, at))
  let changed: Map<string, Change> | undefined
  const changes = (): Map<string, Change> => {
    if (changed) return changed
    const found = touchedRows()
    const fields = fieldsSince(
      db,
      found.map((row) => row.id),
      at,
    )
    return (changed = new Map(found.map((row) => [row.id, { ...row, fields: fields.get(row.id)! }])))
  }

  /** Links that were there, and no longer are. */
  let gone: rows.LinkRow[] | undefined
  const goneLinks = (): rows.LinkRow[] => {
    if (gone) return gone
    const links = touchedRows().flatMap(({ id }) => (kindOf(id) === LINK_KIND ? [id] : []))
    return (gone = entities(rows.linksGone(db, links)).flatMap(({ id, live, fields: { from, type, to } }) =>
      live ? [{ id, src: String(from), rel: String(type), dst: String(to) }] : [],
    ))
  }
  let byEnd: Record<'src' | 'dst', Map<string, rows.LinkRow[]>> | undefined
  const goneAt = (end: 'src' | 'dst', id: string) => {
    const all = goneLinks()
    byEnd ??= { src: Map.groupBy(all, (l) => l.src), dst: Map.groupBy(all, (l) => l.dst) }
    return byEnd[end].get(id) ?? []
  }
  const entities = (ids: readonly string[]) => {
    const found = new Map(rows.rowsOfIds(db, ids).map((row) => [row.id, row]))
    foldEach([...found.values()].flatMap((row) => (row.updated > at ? [row.id] : [])))
    return ids.flatMap((id) => (found.has(id) ? (read(found.get(id)!) ?? []) : []))
  }
  /** All that is read of them is read at once. */
  const links = (end: 'from' | 'to', ids: readonly string[], relations?: readonly string[]): Link[] => {
    const [column, other] = end === 'from' ? (['src', 'dst'] as const) : (['dst', 'src'] as const)
    const all = [...rows.allLinksAt(db, column, ids), ...ids.flatMap((id) => goneAt(column, id))].filter(
      (l) => !relations || relations.includes(l.rel),
    )
    const there = new Map(entities([...new Set(all.flatMap((l) => [l.id, l[other]]))]).map((e) => [e.id, e]))
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
  type Standing = Pick<rows.Listed, 'live' | 'retired' | 'standing'>
  /** Those of these that were alive, and whether somebody had agreed to each; some are `known`. */
  const aliveOf = (ids: readonly string[], known: ReadonlyMap<string, Standing>): Map<string, boolean> => {
    const found = rows.standingOfIds(
      db,
      ids.filter((id) => !known.has(id)),
    )
    const was = stateOfEach(found.flatMap((row) => (row.updated > at ? [row.id] : [])))
    const then = new Map<string, Standing>(
      found.map((row) => [row.id, row.updated <= at ? row : listedAs(was.get(row.id))]),
    )
    return new Map(
      ids.flatMap((id) => {
        const { live, retired, standing } = known.get(id) ?? then.get(id) ?? NOWHERE
        return live ? [[id, !retired && standing === 'confirmed'] as const] : []
      }),
    )
  }
  /** What lists show of those that something touched since. */
  const stateOfEach = (ids: readonly string[], ...also: string[]) => {
    const was = foldForLists(db, ids, at, also)
    foldEach(ids.filter((id) => !was.has(id)))
    return new Map(ids.map((id) => [id, was.get(id) ?? folded.get(id)]))
  }
  /** Those of these that another one had taken the place of. */
  const replacedOf = (
    ids: readonly string[],
    whatever = true,
    known: ReadonlyMap<string, Standing> = new Map(),
  ): Set<string> => {
    const all = [...rows.linksInto(db, SUPERSEDES, ids), ...ids.flatMap((id) => goneAt('dst', id))]
    const taking = all.filter((l) => l.rel === SUPERSEDES)
    const alive = aliveOf([...new Set(taking.map((l) => l.id))], known)
    const old = new Set(taking.flatMap((l) => (alive.get(l.id) ? [l.dst] : [])))
    if (whatever) return old
    const said = rows.rowsOfIds(db, writtenUpTo(db, [...old], 'status', at))
    const was = stateOfEach(
      said.flatMap((row) => (row.updated > at ? [row.id] : [])),
      'status',
    )
    for (const row of said) {
      const { status } = (row.updated > at ? was.get(row.id) : entityOf(row))?.fields ?? {}
      if (status !== undefined) old.delete(row.id)
    }
    return old
  }

  /** What of a kind was alive, newest first, as lists show it. */
  const listed = (kind: string, o: ListOptions): rows.Listed[] => {
    const touched = rows.touchedSince(db, kind, at)
    const was = stateOfEach(touched.flatMap((row) => (row.changed ? [row.id] : [])))
    const then = touched.map((row): rows.Listed => (row.changed ? { ...row, ...listedAs(was.get(row.id)) } : row))
    const known = [...rows.untouchedSince(db, kind, at), ...then]
    const asked = known.filter(
      (row) =>
        row.live &&
        (o.since === undefined || row.created >= o.since) &&
        (o.standing ? row.standing === o.standing : o.all || (!row.retired && row.standing !== 'rejected')),
    )
    const lostLink = (id: string) => goneAt('dst', id).some((l) => l.rel === SUPERSEDES)
    const perhaps = o.standing || o.all ? [] : asked.filter((row) => row.replaced || lostLink(row.id))
    const replaced = replacedOf(
      perhaps.map((row) => row.id),
      o.current ?? false,
      new Map(known.map((row) => [row.id, row])),
    )
    return asked.filter((row) => !replaced.has(row.id)).sort(newestFirst)
  }
  function* pages(ids: readonly string[]) {
    for (let i = 0; i < ids.length; i += PAGE) yield* entities(ids.slice(i, i + PAGE))
  }
  let renamed: string[] | undefined
  const renamedSince = () => {
    // a restored entity may have lost the name that somebody else gave it meanwhile
    const isNamed = ({ id, fields }: Change) =>
      fields.has(STATE) || (registry().kind(kindOf(id))?.key ?? []).some((f) => fields.has(f))
    return (renamed ??= [...changes().values()].flatMap((c) => (isNamed(c) ? [c.id] : [])))
  }

  const reader: Variant = {
    at,
    changes,
    registry,
    entity,
    byName(key) {
      const ids = new Set([...rows.rowsByName(db, key).map((row) => row.id), ...renamedSince()])
      return entities([...ids].sort()).filter((e) => nameKey(e.name) === key)
    },
    allIds: () => rows.allKinds(db).flatMap((kind) => rows.idsAt(db, kind, at)),
    list(kind, o = {}) {
      const found = [
        ...pages(listed(kind, o).map((row) => row.id))
          .filter((e) => isAsked(e, o))
          .take(o.limit ?? Number.POSITIVE_INFINITY),
      ]
      return found
    },
    ids: (kinds, o = {}) =>
      idsOf(kinds, o, (kind, of) =>
        of.topic === undefined && of.session === undefined ? listed(kind, of) : reader.list(kind, of),
      ),
    entities,
    links: (end, id) => links(end, [id]),
    edges: (end, ids, relations) =>
      links(end, ids, relations).flatMap(({ entity: e, ...l }) =>
        isAgreed(e)
          ? [
              {
                ...l,
                at: e.created,
                ...(typeof e.fields.confidence === 'number' && { confidence: e.fields.confidence }),
              },
            ]
          : [],
      ),
    replaced: (ids) => replacedOf(ids),
    linksOf: (relations) =>
      [...rows.linksOf(db, relations), ...goneLinks().filter((l) => relations.includes(l.rel))]
        .filter((l) => isLive(l.id))
        .map((l) => ({ id: l.id, from: l.src, to: l.dst, type: l.rel })),
    search(question, limit, only) {
      const words =
        question
          .slice(0, 10_000)
          .toLowerCase()
          .match(/[\p{L}\p{N}]+/gu) ?? []
      return registry()
        .kinds()
        .filter((k) => !k.internal && (!only || only.includes(k.name)))
        .flatMap((k) => reader.list(k.name))
        .map((e) => ({ e, score: words.filter((w) => JSON.stringify(e.fields).toLowerCase().includes(w)).length }))
        .filter((x) => x.score > 0)
        .sort((a, b) => b.score - a.score || b.e.created - a.e.created || (a.e.id < b.e.id ? -1 : 1))
        .slice(0, limit)
        .map((x) => x.e)
    },
    conflicts: () => [...pages(reader.allIds())].filter((e) => e.conflicts.length > 0),
    counts: () =>
      rows
        .allKinds(db)
        .map((kind) => ({ kind, n: listed(kind, { all: true }).length }))
        .filter((c) => c.n > 0)
        .sort((a, b) => b.n - a.n || (a.kind < b.kind ? -1 : 1)),
    find: (ref, deleted) => candidates(reader, ref).filter((e) => e.live || deleted),
  }
  return reader
}

const NOWHERE = { live: 0, retired: 0, standing: '' }

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
  const byEntity = Map.groupBy(
    events.filter((e) => known.has(e.entity)),
    (e) => e.entity,
  )
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

/** Entities as the events up to a moment say they are; those that had none are left out. */
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
