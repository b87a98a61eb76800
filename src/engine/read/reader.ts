/** read: how knowledge is looked up, as it is or was at a moment: the reader, references, views, the work tree. */

import { UserError } from '../../base/errors.ts'
import { type Conflict, type Edge, type Entity, isAgreed, type Link } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { nearest } from '../../model/names.ts'
import type { Registry } from '../../model/registry.ts'
import { toTime } from '../../model/validate.ts'
import { aheadIds, dated } from '../store/clock-ahead.ts'
import { type Db, type Queries, stored } from '../store/db.ts'
import * as rows from '../store/rows.ts'
import { questionTerms } from '../store/terms.ts'
import { rowsWith, textsWith } from '../store/text-index.ts'
import { candidates, type Lookup } from './references.ts'

/** Of each kind. */
const NAMES_TO_SUGGEST_FROM = 500

export interface ListOptions extends rows.ListOptions {
  /** Recorded, or added to, in this session. */
  session?: string
}

export const newestFirst = (a: { id: string; created: number }, b: { id: string; created: number }): number =>
  b.created - a.created || (a.id < b.id ? -1 : 1)

/** The ids of what several kinds list, newest first; `listed` gives those of one kind, up to the last that is asked for. */
export function idsOf(
  kinds: string | readonly string[],
  { offset = 0, ...o }: ListOptions,
  listed: (kind: string, o: ListOptions) => readonly { id: string; created: number }[],
): string[] {
  const end = o.limit === undefined ? undefined : offset + o.limit
  const ofKind = (kind: string) => listed(kind, end === undefined ? o : { ...o, limit: end })
  const all = typeof kinds === 'string' ? ofKind(kinds) : kinds.flatMap(ofKind).sort(newestFirst)
  return all.slice(offset, end).map((e) => e.id)
}

/** Everything that can be asked of the knowledge, now or as of a moment. */
export interface Reader extends Lookup {
  /** Live entities of a kind, newest first. */
  list(kind: string, options?: ListOptions): Entity[]
  /** The ids of those, also of several kinds, without reading them. */
  ids(kinds: string | readonly string[], options?: ListOptions): string[]
  entities(ids: readonly string[]): Entity[]
  links(end: 'from' | 'to', id: string): Link[]
  /** Links at any of several entities that are neither proposed nor retired, without reading them. In a fixed order. */
  edges(end: 'from' | 'to', ids: readonly string[], relations?: readonly string[]): Edge[]
  /** Those of these that something took the place of, also where that was deleted since. */
  replaced(ids: readonly string[]): Set<string>
  /** Every link of some relations, read without its entity: whether it and its ends still count is for the caller to see. */
  linksOf(relations: readonly string[]): Omit<Link, 'entity'>[]
  search(question: string, limit: number, kinds?: readonly string[]): Entity[]
  conflicts(): Entity[]
  counts(): { kind: string; n: number }[]
  /** What a reference means: live ones unless `deleted`; several when it is ambiguous. */
  find(ref: string, deleted?: boolean): Entity[]
}

export function entityOf(row: rows.EntityRow): Entity {
  const fields = stored<{ [field: string]: Json }>(row.body)
  return {
    id: row.id,
    kind: row.kind,
    name: rows.nameIn(row.name, fields),
    fields,
    live: row.live === 1,
    created: row.created,
    updated: row.updated,
    version: row.version,
    conflicts: row.conflicts === null ? [] : stored<Conflict[]>(row.conflicts),
  }
}

/** The links that somebody stands by. */
export const edgesOf = (links: readonly Link[]): Edge[] =>
  links.flatMap(({ entity: e, ...l }) => {
    const { confidence } = e.fields
    return isAgreed(e) ? [{ ...l, at: e.created, ...(typeof confidence === 'number' ? { confidence } : {}) }] : []
  })

/** What the columns of the store do not know. */
export const isAsked = (e: Entity, { session }: ListOptions): boolean =>
  session === undefined ||
  (Array.isArray(e.fields.provenance) &&
    e.fields.provenance.some((p) => (p as { session?: string } | null)?.session === session))

/** How many texts the words of a search may match together. */
const POSTINGS = 3_000

/** The words that a question is searched by: the rarest first, and at least one. What stands in most texts tells nothing of any. */
export function rarest(db: Db, question: string): string[] {
  const counted = questionTerms(question).map(({ word, stem }) => ({ word, texts: textsWith(db, stem) }))
  let before = 0
  return counted
    .sort((a, b) => a.texts - b.texts)
    .filter(({ texts }) => {
      const isKept = before === 0 || before + texts <= POSTINGS
      before += texts
      return isKept
    })
    .map((c) => c.word)
}

/** Reads the store as it is now; `from`: what holds here, unless the rows of all lines are asked for. */
export function readNow(db: Db, registry: () => Registry, from: Queries = db.here): Reader {
  const ahead = aheadIds(db)
  const said = (row: rows.EntityRow) => entityOf(ahead.size === 0 ? row : dated(db, ahead, row))
  const entity = (id: string) => {
    const row = rows.getRow(from, id)
    return row && said(row)
  }
  /** In the order in which they came: the store has those of a clock that was ahead first. */
  const listed = (kind: string, { limit, ...o }: rows.ListOptions): Entity[] => {
    if (ahead.size === 0) return rows.listRows(from, kind, limit === undefined ? o : { ...o, limit }).map(entityOf)
    const found = rows.listRows(from, kind, limit === undefined ? o : { ...o, limit: limit + ahead.size })
    return found.map(said).sort(newestFirst).slice(0, limit)
  }
  const reader: Reader = {
    registry,
    entity,
    byName: (key) => rows.rowsByName(from, key).map(said),
    allIds: () => rows.allIds(from),
    list(kind, o = {}) {
      const { session, limit, offset: _, ...rest } = o
      if (session === undefined) return listed(kind, limit === undefined ? rest : { ...rest, limit })
      const found = listed(kind, rest)
      return found.filter((e) => isAsked(e, o)).slice(0, limit ?? found.length)
    },
    entities: (ids) => rows.rowsOfIds(from, ids).map(said),
    ids(kinds, o = {}) {
      const { session, ...rest } = o
      const isPlain = session === undefined && ahead.size === 0
      const all = [kinds].flat()
      return isPlain && all.length <= rows.MOST_KINDS
        ? rows.listIds(from, all, rest).map((e) => e.id)
        : idsOf(kinds, o, (kind, of) => reader.list(kind, of))
    },
    links: (end, id) =>
      rows.linksAt(from, end === 'from' ? 'src' : 'dst', id).flatMap((l) => {
        const e = entity(l.id)
        return e && e.fields.standing !== 'rejected'
          ? [{ id: l.id, from: l.src, to: l.dst, type: l.rel, entity: e }]
          : []
      }),
    edges: (end, ids, relations) =>
      rows.edgesAt(from, end === 'from' ? 'src' : 'dst', ids, relations).map((l) => ({
        ...{ id: l.id, from: l.src, to: l.dst, type: l.rel, at: l.at },
        ...(typeof l.confidence === 'number' ? { confidence: l.confidence } : {}),
      })),
    replaced: (ids) => new Set(rows.replacedAmong(from, ids)),
    linksOf: (relations) =>
      rows.linksOf(from, relations).map(({ id, src, dst, rel }) => ({ id, from: src, to: dst, type: rel })),
    search(question, limit, kinds) {
      const hits = rowsWith(from, rarest(db, question), limit, 'known', kinds)
      const replaced = reader.replaced(hits.map((hit) => hit.id))
      return hits
        .flatMap((hit) => entity(hit.id) ?? [])
        .filter((e) => e.fields.status !== undefined || !replaced.has(e.id))
    },
    conflicts: () => rows.rowsInConflict(from).map(said),
    counts: () => rows.countByKind(from),
    find: (ref, deleted) => candidates(reader, ref).filter((e) => e.live || deleted),
  }
  return reader
}

/** What is called nearly so, of the newest. */
export function namesNear(reader: Reader, ref: string): string[] {
  const kinds = reader.registry().visibleKinds()
  const newest = kinds.flatMap((k) => reader.list(k.name, { limit: NAMES_TO_SUGGEST_FROM }))
  return nearest(ref, new Set(newest.map((e) => e.name)))
}

/** A moment as the caller gives it: a day means its end, in UTC. */
export function momentOf(at: string | number | Date): number {
  const ms = at instanceof Date ? at.getTime() : at
  if (typeof ms === 'number' && !Number.isNaN(ms)) return ms
  const moment = toTime(ms)
  const hint = 'give a day such as 2026-11-21 or a moment such as 2026-11-21T14:30:00Z'
  if (moment === undefined)
    throw new UserError('bad-time', `${typeof at === 'string' ? `"${at}"` : at} is not a time`, hint)
  return moment.length === 10 ? Date.parse(moment) + 86_400_000 - 1 : Date.parse(moment)
}
