import type { Entity, Link } from '../../model/entity.ts'
import { isAgreed, isDefinition, KIND_KIND, kindOf, nameKey, RELATION_KIND, standingOf } from '../../model/entity.ts'
import type { Registry } from '../../model/registry.ts'
import { cellsOf } from '../log/events.ts'
import { projectionOf, textOf } from '../materialize/apply.ts'
import type { Db } from '../store/db.ts'
import * as log from '../store/log.ts'
import * as rows from '../store/rows.ts'
import { questionTerms, type Term, termsOf } from '../store/terms.ts'
import { countTexts, rowsWith, textsWith } from '../store/text-index.ts'
import type { Change, Variant } from './past.ts'
import { edgesOf, entityOf, idsOf, isAsked, type ListOptions, newestFirst, type Reader, rarest } from './reader.ts'
import { candidates } from './references.ts'

const SUPERSEDES = 'supersedes'

export type LineName = Readonly<{ replica: string; seq: number }>

/** The knowledge without some lines. Only entities that those touch are folded. A line that was compacted away stays in. */
export function readWithout(
  db: Db,
  base: Reader,
  registryOf: (defined: readonly Entity[]) => Registry,
  lines: readonly LineName[],
): Variant {
  const touched = new Set(lines.flatMap(({ replica, seq }) => log.entitiesOf(db, replica, seq)))
  const without = new Set(lines.map(({ replica, seq }) => `${replica}:${seq}`))
  let registry = base.registry()
  const definitions = [...touched].filter(isDefinition)
  if (definitions.length > 0) {
    // what a kind is called by may be another one: all of that kind are made again
    for (const id of definitions) {
      const name = base.entity(id)?.fields.name
      if (kindOf(id) === KIND_KIND && typeof name === 'string')
        for (const of of rows.idsOfKind(db, name)) touched.add(of)
    }
    const defined = [KIND_KIND, RELATION_KIND].flatMap((kind) => rows.idsOfKind(db, kind))
    registry = registryOf(
      defined.flatMap((id) => (touched.has(id) ? (made(id)?.entity ?? []) : (base.entity(id) ?? []))),
    )
  }

  function made(id: string) {
    const events = log.eventsOf(db, id).filter((e) => !without.has(e.batch))
    const folded = rows.foldedOf(db, id)
    if (events.length === 0 && !folded) return undefined
    const updated = events.reduce((max, { event }) => Math.max(max, event.stamp.ms), folded?.updated ?? 0)
    const batches = log.batchesOf(db, id, false).filter((b) => !without.has(`${b.replica}:${b.seq}`))
    const cells = cellsOf(events.map((e) => e.event))
    const { row, link } = projectionOf(registry, id, cells, updated, batches.length + rows.countOf(folded))
    return { entity: entityOf(row), row, link }
  }
  const other = new Map([...touched].map((id) => [id, made(id)]))
  const links = [...other.values()].flatMap((m) => m?.link ?? [])

  const isOther = (id: string) => other.has(id)
  const entity = (id: string) => (isOther(id) ? other.get(id)?.entity : base.entity(id))
  const linksAt = (end: 'from' | 'to', ids: readonly string[], isToGone = false): Link[] => {
    const [column, far] = end === 'from' ? (['src', 'dst'] as const) : (['dst', 'src'] as const)
    const asked = new Set(ids)
    return [
      ...rows.allLinksAt(db, column, ids).filter((l) => !isOther(l.id)),
      ...links.filter((l) => asked.has(l[column])),
    ]
      .flatMap((l): Link[] => {
        const said = entity(l.id)
        return said && said.fields.standing !== 'rejected' && (isToGone ? said.live : entity(l[far])?.live)
          ? [{ id: l.id, from: l.src, to: l.dst, type: l.rel, entity: said }]
          : []
      })
      .sort((a, b) => compare([a.type, a[end === 'from' ? 'to' : 'from']], [b.type, b[end === 'from' ? 'to' : 'from']]))
  }
  const replaced = (ids: readonly string[]) => {
    const isInPlace = (l: Link) => isAgreed(l.entity) && standingOf(entity(l.from)?.fields ?? {}) === 'confirmed'
    return new Set(linksAt('to', ids, true).flatMap((l) => (l.type === SUPERSEDES && isInPlace(l) ? [l.to] : [])))
  }

  /** Those that lists may show otherwise than the rows say: touched ones, and what those took or take the place of. */
  let others: Set<string> | undefined
  const listedAnew = (): Set<string> => {
    if (others) return others
    const touching = [...touched].flatMap((id) => {
      const was = rows.linkOf(db, id)
      return was?.rel === SUPERSEDES ? [was.dst] : []
    })
    const taking = rows.allLinksAt(db, 'src', [...touched]).flatMap((l) => (l.rel === SUPERSEDES ? [l.dst] : []))
    return (others = new Set([...touched, ...touching, ...links.map((l) => l.dst), ...taking]))
  }
  const isListed = (e: Entity, o: ListOptions): boolean => {
    const standing = e.fields.standing ?? 'confirmed'
    if (!e.live || (o.since !== undefined && e.created < o.since)) return false
    if (o.standing) return standing === o.standing
    if (o.all) return true
    if (e.fields.retired !== undefined || standing === 'rejected') return false
    return !((o.current || e.fields.status === undefined) && replaced([e.id]).has(e.id))
  }
  const anew = (kind: string, o: ListOptions): Entity[] =>
    [...listedAnew()].flatMap((id) => {
      const e = kindOf(id) === kind ? entity(id) : undefined
      return e && isListed(e, o) && isAsked(e, o) ? [e] : []
    })
  /** So many more than are asked for: some of them may be listed otherwise. */
  const more = ({ limit, offset: _, ...o }: ListOptions): ListOptions =>
    limit === undefined ? o : { ...o, limit: limit + listedAnew().size }

  const reader: Variant = {
    registry: () => registry,
    changes: () =>
      new Map(rows.changedRows(db, [...touched]).map((row): [string, Change] => [row.id, { ...row, fields: ALL }])),
    entity,
    byName: (key) =>
      [
        ...base.byName(key).filter((e) => !isOther(e.id)),
        ...[...other.values()].flatMap((m) => (m && nameKey(m.entity.name) === key ? [m.entity] : [])),
      ].sort((a, b) => (a.id < b.id ? -1 : 1)),
    allIds: () => [...base.allIds().filter((id) => entity(id) !== undefined)],
    list(kind, o = {}) {
      const found = [...base.list(kind, more(o)).filter((e) => !listedAnew().has(e.id)), ...anew(kind, o)]
      return found.sort(newestFirst).slice(0, o.limit ?? found.length)
    },
    ids: (kinds, o = {}) =>
      idsOf(kinds, o, (kind, of) => {
        if (of.session !== undefined) return reader.list(kind, of)
        const { session: _, ...plain } = more(of)
        const found = rows.listIds(db, [kind], plain).filter((e) => !listedAnew().has(e.id))
        return [...found, ...anew(kind, of)].sort(newestFirst)
      }),
    entities: (ids) => [
      ...base.entities(ids.filter((id) => !isOther(id))),
      ...ids.flatMap((id) => other.get(id)?.entity ?? []),
    ],
    links: (end, id) => linksAt(end, [id]),
    edges: (end, ids, relations) =>
      edgesOf(ids.flatMap((id) => linksAt(end, [id])).filter((l) => !relations || relations.includes(l.type))),
    replaced,
    linksOf: (relations) =>
      [...rows.linksOf(db, relations).filter((l) => !isOther(l.id)), ...links.filter((l) => relations.includes(l.rel))]
        .sort((a, b) => compare([a.rel, a.src, a.dst], [b.rel, b.src, b.dst]))
        .map(({ id, src, dst, rel }) => ({ id, from: src, to: dst, type: rel })),
    search(question, limit, kinds) {
      const found = rowsWith(db, rarest(db, question), limit + touched.size, 'known', kinds)
      const hits = found.flatMap((hit) => (isOther(hit.id) ? [] : [{ id: hit.id, score: hit.score }]))
      const terms = questionTerms(question)
      for (const m of other.values()) {
        if (!m?.entity.live || m.row.retired || m.row.standing === 'rejected') continue
        if (kinds && !kinds.includes(m.entity.kind)) continue
        const score = scoreOf(db, terms, m.entity, registry)
        if (score > 0) hits.push({ id: m.entity.id, score })
      }
      return hits
        .sort((a, b) => b.score - a.score)
        .flatMap(({ id }) => {
          const e = entity(id)
          return e && !(e.fields.status === undefined && replaced([id]).has(id)) ? [e] : []
        })
        .slice(0, limit)
    },
    conflicts: () =>
      [
        ...base.conflicts().filter((e) => !isOther(e.id)),
        ...[...other.values()].flatMap((m) => (m && m.entity.conflicts.length > 0 ? [m.entity] : [])),
      ].sort((a, b) => (a.id < b.id ? -1 : 1)),
    counts() {
      const counts = new Map(base.counts().map(({ kind, n }) => [kind, n]))
      const add = (kind: string, n: number) => counts.set(kind, (counts.get(kind) ?? 0) + n)
      for (const [id, m] of other) {
        if (base.entity(id)?.live) add(kindOf(id), -1)
        if (m?.entity.live) add(kindOf(id), 1)
      }
      return [...counts]
        .flatMap(([kind, n]) => (n > 0 ? [{ kind, n }] : []))
        .sort((a, b) => b.n - a.n || (a.kind < b.kind ? -1 : 1))
    },
    find: (ref, deleted) => candidates(reader, ref).filter((e) => e.live || deleted),
  }
  return reader
}

/** Of an entity that some lines touch, anything may be another one. */
const ALL: ReadonlySet<string> = new Set(['$'])

function compare(a: readonly string[], b: readonly string[]): number {
  for (const [i, x] of a.entries()) if (x !== b[i]) return x < b[i]! ? -1 : 1
  return 0
}

/** BM25 of a text of usual length, with the counts of the whole index (Robertson and Zaragoza 2009; k1 = 1.2). */
function scoreOf(db: Db, terms: readonly Term[], entity: Entity, registry: Registry): number {
  const kind = registry.kind(entity.kind)
  if (!kind || kind.internal) return 0
  const { title, parts } = textOf(entity.name, entity, kind)
  const weights = new Map<string, number>()
  const add = (text: string, weight: number) => {
    for (const { stem } of termsOf(text, undefined, true)) weights.set(stem, (weights.get(stem) ?? 0) + weight)
  }
  add(title.text, 4)
  for (const { text, weight } of parts) add(text, weight >= 0.5 ? 1 : 0.6)
  const all = countTexts(db)
  return terms.reduce((sum, { stem }) => {
    const f = weights.get(stem) ?? 0
    const n = textsWith(db, stem)
    const idf = Math.max(1e-6, Math.log((all - n + 0.5) / (n + 0.5)))
    return sum + (idf * f * 2.2) / (f + 1.2)
  }, 0)
}
