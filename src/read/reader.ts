/**
 * read: how knowledge is looked up. The reader of the store as it is, or as it was at a moment; references by id, name,
 * path or short form; the work tree.
 */

import { UserError } from '../errors.ts'
import { foldOf } from '../log/context-value.ts'
import type { Event } from '../log/events.ts'
import { cellsOf } from '../log/events.ts'
import { rowOf } from '../materialize/apply.ts'
import { type Conflict, type Entity, LINK_KIND, type Link, nameKey, standingOf } from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { nearest } from '../model/names.ts'
import type { Registry } from '../model/registry.ts'
import { toTime } from '../model/validate.ts'
import { type Db, stored } from '../store/db.ts'
import { eventsUpTo } from '../store/log.ts'
import { getMeta } from '../store/meta.ts'
import * as rows from '../store/rows.ts'
import { questionTerms } from '../store/terms.ts'
import { rowsWith } from '../store/text-index.ts'
import { candidates, type Lookup } from './references.ts'

/** Of each kind. */
const NAMES_TO_SUGGEST_FROM = 500

export interface ListOptions {
  limit?: number
  /** ms since the epoch: recorded at or after. */
  since?: number
  topic?: string
  /** Recorded, or added to, in this session. */
  session?: string
  /** Also retired and rejected ones, and those without a status that something took the place of. */
  all?: boolean
  standing?: string
}

/** Everything that can be asked of the knowledge, now or as of a moment. */
export interface Reader extends Lookup {
  /** Live entities of a kind, newest first. */
  list(kind: string, options?: ListOptions): Entity[]
  /** The ids of those, without reading them. */
  ids(kind: string, options?: ListOptions): string[]
  /** Those that are there of several, in any order. */
  entities(ids: readonly string[]): Entity[]
  /** Live links whose other end is alive. */
  links(end: 'from' | 'to', id: string): Link[]
  /** Best first. */
  search(question: string, limit: number, kinds?: readonly string[]): Entity[]
  conflicts(): Entity[]
  counts(): { kind: string; n: number }[]
  /** What a reference means: live ones unless `deleted`; several when it is ambiguous. */
  find(ref: string, deleted?: boolean): Entity[]
}

export function entityOf(row: rows.EntityRow): Entity {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    fields: stored<{ [field: string]: Json }>(row.body),
    live: row.live === 1,
    created: row.created,
    updated: row.updated,
    version: row.version,
    conflicts: row.conflicts === null ? [] : stored<Conflict[]>(row.conflicts),
  }
}

const hasTopic = (e: Entity, topic: string): boolean =>
  [e.fields.topics, e.fields.tags].some(
    (v) => Array.isArray(v) && v.some((t) => String(t).toLowerCase() === topic.toLowerCase()),
  )

const ofSession = (e: Entity, session: string): boolean =>
  Array.isArray(e.fields.provenance) &&
  e.fields.provenance.some((p) => (p as { session?: string } | null)?.session === session)

/** What the columns of the store do not know. */
const isAsked = (e: Entity, { topic, session }: ListOptions): boolean =>
  (topic === undefined || hasTopic(e, topic)) && (session === undefined || ofSession(e, session))

/** Reads the store as it is now. */
export function readNow(db: Db, registry: () => Registry): Reader {
  const entity = (id: string) => {
    const row = rows.getRow(db, id)
    return row && entityOf(row)
  }
  const reader: Reader = {
    registry,
    entity,
    byName: (key) => rows.rowsByName(db, key).map(entityOf),
    allIds: () => rows.allIds(db),
    list(kind, o = {}) {
      const { topic, session, limit, ...rest } = o
      if (topic === undefined && session === undefined)
        return rows.listRows(db, kind, { ...rest, ...(limit !== undefined ? { limit } : {}) }).map(entityOf)
      const found = rows.listRows(db, kind, rest).map(entityOf)
      return found.filter((e) => isAsked(e, o)).slice(0, limit ?? found.length)
    },
    entities: (ids) => rows.rowsOfIds(db, ids).map(entityOf),
    ids(kind, o = {}) {
      const { topic, session, ...rest } = o
      return topic === undefined && session === undefined
        ? rows.listIds(db, kind, rest)
        : reader.list(kind, o).map((e) => e.id)
    },
    links: (end, id) =>
      rows.linksAt(db, end === 'from' ? 'src' : 'dst', id).flatMap((l) => {
        const e = entity(l.id)
        return e && e.fields.standing !== 'rejected'
          ? [{ id: l.id, from: l.src, to: l.dst, type: l.rel, entity: e }]
          : []
      }),
    search(question, limit, kinds) {
      const words = questionTerms(question).map((t) => t.word)
      const isReplaced = (e: Entity) =>
        e.fields.status === undefined &&
        reader
          .links('to', e.id)
          .some(
            ({ type, entity: { fields } }) =>
              type === 'supersedes' && standingOf(fields) === 'confirmed' && fields.retired === undefined,
          )
      return rowsWith(db, words, limit, 'known', kinds)
        .flatMap((hit) => entity(hit.id) ?? [])
        .filter((e) => !isReplaced(e))
    },
    conflicts: () => rows.rowsInConflict(db).map(entityOf),
    counts: () => rows.countByKind(db),
    find: (ref, deleted) => candidates(reader, ref).filter((e) => e.live || deleted),
  }
  return reader
}

/** What is called nearly so, of the newest. */
export function namesNear(reader: Reader, ref: string): string[] {
  const kinds = reader
    .registry()
    .kinds()
    .filter((k) => !k.internal)
  return nearest(
    ref,
    kinds.flatMap((k) => reader.list(k.name, { limit: NAMES_TO_SUGGEST_FROM }).map((e) => e.name)),
  )
}

/** A moment as the caller gives it: a day means its end, in UTC. */
export function momentOf(at: string | number | Date): number {
  const ms = at instanceof Date ? at.getTime() : at
  if (typeof ms === 'number' && !Number.isNaN(ms)) return ms
  const moment = toTime(ms)
  if (moment === undefined)
    throw new UserError(
      'bad-time',
      `${typeof at === 'string' ? `"${at}"` : at} is not a time`,
      'give a day such as 2026-11-21 or a moment such as 2026-11-21T14:30:00Z',
    )
  return moment.length === 10 ? Date.parse(moment) + 86_400_000 - 1 : Date.parse(moment)
}

/**
 * Reads the knowledge as it was at a moment: folds the events stamped up to it (K11). The same on every replica that
 * holds the same lines; refused for a moment before the horizon of a compaction.
 */
export function readAsOf(db: Db, registry: () => Registry, at: number): Reader {
  const horizon = Number(getMeta(db, 'horizon') ?? 0)
  if (at < horizon) {
    throw new UserError(
      'before-horizon',
      `history before ${new Date(horizon).toISOString()} was compacted away`,
      'ask for a later moment',
    )
  }
  const all = new Map<string, Entity>()
  const byEntity = new Map<string, Event[]>()
  for (const { event } of eventsUpTo(db, at)) {
    const group = byEntity.get(event.entity)
    if (group) group.push(event)
    else byEntity.set(event.entity, [event])
  }
  const folded = new Map(rows.basesTouched(db).map((b) => [b.entity, b.updated]))
  for (const [id, events] of byEntity) {
    // what touched it last may have been folded away by a compaction; the horizon lies after it
    const updated = events.reduce((max, e) => Math.max(max, e.stamp.ms), folded.get(id) ?? 0)
    all.set(id, entityOf(rowOf(id, foldOf(id, cellsOf(events)), updated, events.length, registry())))
  }
  const live = [...all.values()].filter((e) => e.live).sort((a, b) => b.created - a.created || (a.id < b.id ? -1 : 1))
  const replaced = new Set(
    live.flatMap((e) =>
      e.kind === LINK_KIND &&
      e.fields.type === 'supersedes' &&
      standingOf(e.fields) === 'confirmed' &&
      e.fields.retired === undefined &&
      all.get(String(e.fields.from))?.live
        ? String(e.fields.to)
        : [],
    ),
  )
  const shown = (e: Entity, o: ListOptions) =>
    (o.standing
      ? (e.fields.standing ?? 'confirmed') === o.standing
      : o.all ||
        (e.fields.retired === undefined &&
          e.fields.standing !== 'rejected' &&
          !(e.fields.status === undefined && replaced.has(e.id)))) &&
    (o.since === undefined || e.created >= o.since) &&
    isAsked(e, o)
  const reader: Reader = {
    registry,
    entity: (id) => all.get(id),
    byName: (key) => [...all.values()].filter((e) => nameKey(e.name) === key),
    allIds: () => [...all.keys()],
    list: (kind, o = {}) => live.filter((e) => e.kind === kind && shown(e, o)).slice(0, o.limit ?? live.length),
    ids: (kind, o) => reader.list(kind, o).map((e) => e.id),
    entities: (ids) => ids.flatMap((id) => all.get(id) ?? []),
    links: (end, id) =>
      live
        .filter(
          (e) =>
            e.kind === LINK_KIND &&
            e.fields[end] === id &&
            e.fields.standing !== 'rejected' &&
            all.get(String(e.fields[end === 'from' ? 'to' : 'from']))?.live,
        )
        .map((e) => ({
          id: e.id,
          from: String(e.fields.from),
          to: String(e.fields.to),
          type: String(e.fields.type),
          entity: e,
        }))
        .sort((a, b) => (a.type + a.from + a.to < b.type + b.from + b.to ? -1 : 1)),
    search(question, limit, kinds) {
      const words =
        question
          .slice(0, 10_000)
          .toLowerCase()
          .match(/[\p{L}\p{N}]+/gu) ?? []
      return live
        .filter((e) => !registry().kind(e.kind)?.internal && (!kinds || kinds.includes(e.kind)) && shown(e, {}))
        .map((e) => ({ e, score: words.filter((w) => JSON.stringify(e.fields).toLowerCase().includes(w)).length }))
        .filter((x) => x.score > 0)
        .sort((a, b) => b.score - a.score || b.e.created - a.e.created)
        .slice(0, limit)
        .map((x) => x.e)
    },
    conflicts: () => [...all.values()].filter((e) => e.conflicts.length > 0),
    counts: () =>
      [...Map.groupBy(live, (e) => e.kind)].map(([kind, es]) => ({ kind, n: es.length })).sort((a, b) => b.n - a.n),
    find: (ref, deleted) => candidates(reader, ref).filter((e) => e.live || deleted),
  }
  return reader
}
