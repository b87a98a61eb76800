import { UserError } from '../../base/errors.ts'
import { canonical } from '../../model/canonical.ts'
import { sha256 } from '../../model/digest.ts'
import type { Json } from '../../model/field.ts'
import { isObject } from '../../model/object.ts'
import { STATE, type Stamp, type StampRef } from '../log/cells.ts'
import type { Event } from '../log/events.ts'
import { stored } from './db.ts'

/** Who wrote a batch, from where, and what for: plain provenance. Authority never rests on it. */
export interface Author {
  session?: string
  agent?: string
  user?: string
  branch?: string
  commit?: string
  task?: string
  source?: string
  intent?: string
  actor?: 'person' | 'agent'
  /** The work tree that it was written in: a random name. */
  tree?: string
  undoes?: string[]
}

/** What of the author stands on everything that a batch records. */
export const PROVENANCE = ['session', 'agent', 'user', 'branch', 'commit', 'task', 'source'] as const

/** What a purge erases of one line (K15). */
export interface PurgeMark {
  readonly replica: string
  readonly seq: number
  readonly hash: string
  /** The entity, or its tombstone when all of it goes. */
  readonly entity: string
  /** Counters of the writes whose content goes; all of the entity's when absent. */
  readonly writes?: readonly number[]
  /** Counters of writes of 0.1.0 of which only goes what they say was there before them. */
  readonly was?: readonly number[]
  /** Writes they overwrote that the purger knows no longer, and what those overwrote: they may have said it too. */
  readonly before?: readonly StampRef[]
}

export interface Fork {
  readonly replica: string
  readonly from: number
  /** Two lines that follow the same one, without their content. */
  readonly proof?: readonly [string, string]
}

export type Signature = { readonly key: string; readonly sig: string }

/** One batch as it is kept and exchanged (K10). It says everything once: what is applied is its events. */
export interface Line {
  /** The version of its form: 1 as 0.1.0 wrote it. */
  readonly v: 1 | 2
  readonly replica: string
  readonly seq: number
  /** The lines of the replica from this one on, up to here, stay on its machine: this one follows the one before them. */
  readonly from: number
  /** The hash of the line that it follows, or its beginning; empty for the first. */
  readonly prev: string
  readonly hash: string
  readonly at: number
  readonly author: Author
  readonly events: readonly Event[]
  /** Lines whose content for an entity this line erases. */
  readonly purges: readonly PurgeMark[]
  readonly forks: readonly Fork[]
  /** It never leaves the machine. */
  readonly local: boolean
  /** Something of it is not here: it stays on its machine, or was erased. */
  readonly partial: boolean
  /** Its first write. */
  readonly ctr: number
  readonly raw: RawFirst | RawLine
  /** As it came. The key of version 2 may be known from elsewhere. */
  readonly signature?: { readonly key: string | undefined; readonly sig: string; readonly text: () => string }
}

/** An event as JSON. Left out: `o` for `set`, a `c` that follows, `v` of `$` for a creation. `@`: adds the author to the provenance. */
export interface RawEvent {
  f: string
  o?: Event['op']
  c?: number
  v?: Json
  t?: string[]
  l?: 1
  p?: number
  x?: (number | StampRef)[]
  z?: 1
  /** The digest of what stood here (`v` and `t`), before it was erased. */
  d?: string
}

/** Consecutive events of one entity: its id, the events, a salt if they stay here; after `=` two digests, if a restore found them. */
export type OpenRun = [entity: string, ...rest: (RawEvent | string)[]]
/** One that is not here: how many events it has, and its digest. */
export type HiddenRun = [events: number, digest: string]
export type RawRun = OpenRun | HiddenRun

export interface RawMark {
  r: string
  n: number
  h: string
  e: string
  c?: readonly number[]
  w?: readonly number[]
  b?: readonly StampRef[]
}

/** A line as JSON. Its hash is made of digests of its parts, so a part can be replaced by its digest and hash and signature still hold. */
export interface RawLine {
  v: 2
  r: string
  n: number
  f?: number
  p?: string
  /** The counter of the first event. */
  c: number
  at: number
  by: { [key: string]: string } | string
  for?: { intent: string } | string
  u?: string[]
  e: RawRun[]
  x?: (RawMark | string)[]
  k?: [replica: string, from: number, ...proof: string[]][]
  l?: 1
  /** A line of an identity that two stores wrote under, as its branch says it: the line that it was. */
  o?: RawLine | RawFirst
  /** The branches that this one follows, the nearest first: the counter from which each writes, and its name. */
  b?: [first: number, tag: string][]
  /** In the own store alone: made again from what it did, so its hash is one in name. */
  sub?: string
  h?: string
  s?: string
  key?: string
}

/** A line of 0.1.0: events in `e`, Yjs updates in `u`. Updates, summary and `w` are hashed, but never applied or believed. */
export interface RawFirst extends Pick<RawLine, 'r' | 'n' | 'f' | 'at'> {
  v: 1
  p: string
  by: { [key: string]: string | string[] }
  sum: string
  u: { [entity: string]: string }
  e: (RawEvent & { e: string; w?: Json })[]
  x?: RawMark[]
  k?: [replica: string, from: number][]
  /** The hash of what is here, where `h` is of the line that it stands for. */
  sub?: string
  h: string
}

/** An id as a hash covers it: the same before and after the entity is erased. */
export const ERASED_ID = /:purged-[0-9a-f]{64}$/
export const covered = (id: string): string => (ERASED_ID.test(id) ? id : erasedId(id))
export const erasedId = (id: string): string => `${id.slice(0, id.indexOf(':'))}:purged-${sha256(id)}`
/** What stands in an erased entity's place, since its id may hold the very name that had to go: the beginning of that. */
export const tombstoneOf = (id: string): string => covered(id).slice(0, id.indexOf(':') + ':purged-'.length + 16)
export const isTombstone = (id: string): boolean => /:purged-[0-9a-f]{16}$/.test(id)
/** The entity that an id in a line means. */
export const entityIn = (id: string): string => (ERASED_ID.test(id) ? tombstoneOf(id) : id)

const provenanceOf = (author: Author): Json =>
  Object.fromEntries(PROVENANCE.flatMap((key) => (author[key] === undefined ? [] : [[key, author[key]]])))

/** `by`: who writes; what an event says of that is said once, in the header. */
export function packEvent(e: Event, by?: Author): RawEvent {
  const raw: RawEvent = { f: e.field }
  const isCreation = e.field === STATE && canonical(e.value ?? null) === canonical(created(e.stamp.ms))
  const isAuthor = e.field === 'provenance' && e.op === 'add' && !e.list && by !== undefined
  if (isAuthor && e.value !== undefined && canonical(e.value) === canonical(provenanceOf(by))) raw.f = AUTHOR
  else {
    if (e.op !== 'set') raw.o = e.op
    if (e.value !== undefined && !isCreation) raw.v = e.value
  }
  if (e.path !== undefined) raw.t = [...e.path]
  if (e.list) raw.l = 1
  if (e.pos !== undefined) raw.p = e.pos
  if (e.over.length > 0) raw.x = e.over.map(([r, ctr]) => (r === e.stamp.replica ? ctr : [r, ctr]))
  if (e.purged) raw.z = 1
  return raw
}

export /** The field of an event that adds the line's author to the provenance. */
const AUTHOR = '@'
/** What `$` says where it says nothing: the entity came to be with this line. */
const created = (at: number): Json => ({ s: 'created', at })

type Parts = Pick<PurgeMark, 'writes' | 'was' | 'before'>
/** A mark as a row keeps it. `parts`: which writes, as JSON; all when null. */
export type MarkRow = Omit<PurgeMark, keyof Parts> & { readonly parts: string | null }
export const unpackMarkRow = <R extends MarkRow>({ parts, ...p }: R) => ({ ...p, ...stored<Parts>(parts ?? '{}') })

export const unpackMark = (p: RawMark): PurgeMark => ({
  replica: p.r,
  seq: p.n,
  hash: p.h,
  entity: entityIn(p.e),
  ...(p.c ? { writes: p.c } : {}),
  ...(p.w ? { was: p.w } : {}),
  ...(p.b ? { before: p.b } : {}),
})
export const packMark = (p: PurgeMark): RawMark => ({
  r: p.replica,
  n: p.seq,
  h: p.hash,
  e: p.entity,
  ...(p.writes ? { c: p.writes } : {}),
  ...(p.was ? { w: p.was } : {}),
  ...(p.before ? { b: p.before } : {}),
})

export function unpackEvent(raw: RawEvent, entity: string, stamp: Stamp, by?: Author): Event {
  const isAuthor = raw.f === AUTHOR && by !== undefined
  const event: { -readonly [K in keyof Event]: Event[K] } = {
    entity,
    field: isAuthor ? 'provenance' : raw.f,
    op: isAuthor ? 'add' : (raw.o ?? 'set'),
    stamp,
    over: (raw.x ?? []).map((x) => (typeof x === 'number' ? ([stamp.replica, x] as const) : x)),
  }
  if (raw.d !== undefined) Object.assign(event, { purged: true, erased: stamp.replica })
  else if (raw.v !== undefined) event.value = raw.v
  else if (isAuthor) event.value = provenanceOf(by)
  else if (raw.f === STATE && !raw.z) event.value = created(stamp.ms)
  if (raw.t !== undefined) event.path = raw.t
  if (raw.l) event.list = true
  if (raw.p !== undefined) event.pos = raw.p
  if (raw.z) event.purged = true
  return event
}

/** Events of one entity as a row keeps them: with what a line says of them in its header. `ms`: the row's moment. */
export const runBody = (events: readonly Event[], ms: number): string =>
  JSON.stringify(
    events.map((e, i) => ({
      ...packEvent(e),
      ...(i === 0 || events[i - 1]!.stamp.ctr + 1 !== e.stamp.ctr ? { c: e.stamp.ctr } : {}),
      ...(i === 0 && e.stamp.ms !== ms ? { m: e.stamp.ms } : {}),
    })),
  )

/** The events of such a row. Versions before 12 of the schema kept each event in a row of its own, with the id. */
export function unpackRun(body: string, entity: string, { ms, replica }: Omit<Stamp, 'ctr'>): Event[] {
  const raw = stored<RawEvent | (RawEvent & { m?: number })[]>(body)
  const all = Array.isArray(raw) ? raw : [raw as RawEvent & { m?: number }]
  const stamped = all[0]?.m ?? ms
  let ctr = 0
  return all.map((one) => {
    ctr = one.c ?? ctr + 1
    return unpackEvent(one, entity, { ms: stamped, replica, ctr })
  })
}

export const isCount = (v: unknown): v is number => Number.isSafeInteger(v) && (v as number) >= 0
export const isText = (v: unknown): v is string => typeof v === 'string'
export const listOf = (is: (v: unknown) => boolean) => (v: unknown) => Array.isArray(v) && v.every(is)
export const isCountOrRange = (v: unknown) => isCount(v) || (listOf(isCount)(v) && (v as unknown[]).length === 2)
export const isPair = (v: unknown): boolean => Array.isArray(v) && v.length === 2 && isText(v[0]) && isCount(v[1])
export const orNone = (is: (v: unknown) => boolean) => (v: unknown) => v === undefined || is(v)
export const hasAll = (v: unknown, shape: { readonly [key: string]: (v: unknown) => boolean }): boolean =>
  isObject(v) && Object.keys(shape).every((key) => shape[key]!(v[key]))
/** As `hasAll`, and nothing else: what nobody reads is nowhere. */
export const hasOnly = (v: unknown, shape: { readonly [key: string]: (v: unknown) => boolean }): boolean =>
  hasAll(v, shape) && Object.keys(v as object).every((key) => Object.hasOwn(shape, key))

export const OPS: readonly unknown[] = ['set', 'clear', 'add', 'remove', 'put', 'drop'] satisfies Event['op'][]
export const isEntity = (v: unknown): v is string => typeof v === 'string' && v.indexOf(':') > 0
export const isOne = (v: unknown) => v === 1
export const isDigest = (v: unknown) => typeof v === 'string' && /^[\w-]{43}$/.test(v)
const isRef = (v: unknown) => isCount(v) || isPair(v)

/** The value of `$` says what became of the entity. */
const isState = (v: unknown): boolean =>
  v === undefined ||
  (hasAll(v, {
    s: (s) => s === 'created' || s === 'restored' || s === 'deleted',
    at: (at) => isCount(at) && at <= MOST_MS,
    seen: orNone((seen) => isObject(seen) && Object.values(seen).every((n) => typeof n === 'number')),
    saw: orNone((saw) => isObject(saw) && Object.values(saw).every(listOf(isCountOrRange))),
    reason: orNone(isText),
  }) &&
    ((v as { s: string }).s !== 'deleted' || Object.hasOwn(v as object, 'seen') || Object.hasOwn(v as object, 'saw')))
/** Nothing else says what became of an entity; a folded state may say that something is no more. */
const isOfState = ({ f, o = 'set', v }: RawEvent): boolean => f !== STATE || (o === 'set' ? isState(v) : o === 'remove')
export const isRawEvent = (v: unknown): boolean =>
  hasOnly(v, {
    f: isText,
    o: orNone((o) => OPS.includes(o) && o !== 'set'),
    v: () => true,
    t: orNone(listOf(isText)),
    l: orNone(isOne),
    p: orNone(Number.isFinite as (v: unknown) => boolean),
    x: orNone(listOf(isRef)),
    z: orNone(isOne),
    d: orNone(isDigest),
  }) &&
  !((v as RawEvent).d !== undefined && ((v as RawEvent).v !== undefined || (v as RawEvent).t !== undefined)) &&
  ((v as RawEvent).d !== undefined || isOfState(v as RawEvent))

/** The fields of an event of 0.1.0, and of one that a folded state keeps. */
export const isEvent = (v: unknown): boolean =>
  hasAll(v, {
    f: isText,
    o: orNone((o) => OPS.includes(o)),
    c: isCount,
    p: orNone((p) => typeof p === 'number'),
    t: orNone(listOf(isText)),
    x: orNone(listOf(isRef)),
  }) && isOfState(v as RawEvent)

export const MARK = { r: isText, n: isCount, h: isText, e: isText, c: orNone(listOf(isCount)), w: orNone(listOf(isCount)), b: orNone(listOf(isPair)) } // biome-ignore format: one row
export const isPurge = (v: unknown): boolean => hasAll(v, MARK)
export const MOST_MS = 8.64e15

export const newer = (form: number) => {
  const hint = 'update Tidemark: `npm install -g tidemark@latest`; nothing of the line was taken, and nothing is lost'
  return new UserError('line-newer', `a log line has form ${form}, and this Tidemark reads forms 1 and 2`, hint)
}

export const damaged = (why: string) => {
  const hint = 'ask the sender to send it again; nothing of it was taken'
  return new UserError('line-damaged', `a log line is damaged: ${why}`, hint)
}

/** What of a line is taken out. */
export interface Redaction {
  /** Entities that are not told at all: their events leave a digest. */
  hides?(id: string): boolean
  erases?(id: string): boolean
  write?(ctr: number): boolean
  /** Writes of 0.1.0 of which goes what they say was there before. */
  was?(ctr: number): boolean
  header?: boolean
}
