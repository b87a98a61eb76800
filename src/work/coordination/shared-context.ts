import { UserError } from '../../base/errors.ts'
import { checkTypes, EVENT_TYPES } from '../../engine/feed/event-types.ts'
import { EventStream, type StreamEvent, sharedBefore, valueAfter } from '../../engine/feed/feed.ts'
import { SHARED_FIELD, SHARED_KIND } from '../../engine/log/context-value.ts'
import type { ActOptions, Memory } from '../../engine/memory.ts'
import { type Archived, archivedAfter, archivedUpTo } from '../../engine/store/archive.ts'
import { arrivalsOf } from '../../engine/store/log.ts'
import { getMeta } from '../../engine/store/meta.ts'
import { idsOfKind } from '../../engine/store/rows.ts'
import { sharedAt, sharedEver } from '../../engine/write/context-key.ts'
import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { nearest, orNear } from '../../model/names.ts'
import { defined } from '../../model/object.ts'
import { sessionsOf } from './sessions.ts'

export interface SharedValue {
  key: string
  value: Json
  /** For `expectedVersion`: only if nobody has written it since. */
  version: number
}

/** All of the shared context (X8). */
export interface SharedContext {
  contextId: string
  createdAt: string | null
  lastUpdated: string | null
  /** Sessions that live. */
  sessions: string[]
  data: { [key: string]: Json }
  /** Grows with every change of any key. */
  version: number
}

const read = (e: Entity): SharedValue => ({ key: e.name, value: e.fields[SHARED_FIELD] ?? null, version: e.version })

export function getShared(memory: Memory, key: string): SharedValue | undefined {
  const e = sharedAt(memory.reader, key)
  return e && read(e)
}

function missing(memory: Memory, key: string): never {
  const keys = listShared(memory).map((s) => s.key)
  const near = nearest(key, keys)
  throw new UserError(
    'not-found',
    `nothing is shared under "${key.slice(0, 80).toWellFormed()}"`,
    orNear(
      near,
      keys.length > 0 ? `the keys are ${keys.slice(0, 20).join(', ')}` : 'no key is shared yet',
      (k) => `"${k}"`,
    ),
    { nearest: near },
  )
}

/** The value of a key. @throws UserError with near matches where there is none. */
export const mustBeShared = (memory: Memory, key: string): SharedValue => getShared(memory, key) ?? missing(memory, key)

const everShared = (memory: Memory, key: string): Entity => sharedEver(memory.reader, key) ?? missing(memory, key)

/** Every key, by name. */
export const listShared = (memory: Memory): SharedValue[] =>
  memory.reader
    .list(SHARED_KIND, { all: true })
    .map(read)
    .sort((a, b) => (a.key < b.key ? -1 : 1))

export function sharedContext(memory: Memory): SharedContext {
  const ever = idsOfKind(memory.db, SHARED_KIND).map((id) => memory.reader.entity(id)!)
  const time = (ms: number) => (Number.isFinite(ms) ? new Date(ms).toISOString() : null)
  return {
    contextId: memory.projectId,
    createdAt: time(Math.min(...ever.map((e) => e.created))),
    lastUpdated: time(Math.max(...ever.map((e) => e.updated))),
    sessions: sessionsOf(memory)
      .list()
      .map((s) => s.id),
    data: Object.fromEntries(listShared(memory).map((s) => [s.key, s.value])),
    version: ever.reduce((sum, e) => sum + e.version, 0),
  }
}

/** Events in the archive after a cursor, as they were told. */
const putAway = (memory: Memory, since: number, is: (e: StreamEvent & Archived) => boolean): StreamEvent[] =>
  archivedAfter<StreamEvent & Archived>(memory.db, since)
    .filter(is)
    .map(({ entity: _entity, ...e }) => e as StreamEvent)

const MAX_HISTORY = 1_000

/** What happened to a key, newest first. */
export const sharedHistory = (memory: Memory, key: string, limit = MAX_HISTORY): StreamEvent[] =>
  historyOf(memory, everShared(memory, key).id, limit)

function historyOf(memory: Memory, id: string, limit: number): StreamEvent[] {
  const stream = new EventStream(memory.db)
  const events = arrivalsOf(memory.db, id, limit)
    .reverse()
    .flatMap((n) => memory.newsSince(n - 1, 1))
    .flatMap((news) => stream.eventsOf({ ...news, events: news.events.filter((x) => x.event.entity === id) }))
  if (events.length < limit) {
    const known = new Set(events.map((e) => e.event_id))
    events.push(...putAway(memory, 0, (e) => e.entity === id && !known.has(e.event_id)))
    events.sort((x, y) => x.seq - y.seq)
  }
  return events.slice(-limit).reverse()
}

/** What a key held after an event, null where nobody knows: from before a compaction the archive does. */
function sharedAfter(memory: Memory, id: string, seq: number): { is: Json | undefined } | null {
  if (seq >= Number(getMeta(memory.db, 'compacted_n') ?? 0)) return { is: sharedBefore(memory.db, id, seq + 1) }
  const told = historyOf(memory, id, Number.MAX_SAFE_INTEGER).filter((e) => e.seq <= seq)
  return told.length > 0 ? { is: told.reduceRight<Json | undefined>(valueAfter, undefined) } : null
}

/** Restores the value after an event. @throws UserError if there was none, or it is no longer known. */
export function rollbackShared(memory: Memory, key: string, to: number, options: ActOptions = {}): SharedValue {
  const { id } = everShared(memory, key)
  const some = () => {
    const seqs = sharedHistory(memory, key, 20).flatMap((x) => (x.event_type === 'delete' ? [] : [x.seq]))
    return seqs.length > 0
      ? `it was written by the events ${seqs.join(', ')}`
      : '`tidemark share history KEY` lists them'
  }
  if (!Number.isInteger(to) || to < 1 || to > memory.cursor)
    throw new UserError('bad-argument', `there is no event ${to}`, some())
  const value = sharedAfter(memory, id, to)
  if (value === null)
    throw new UserError('before-horizon', `what "${key}" held at event ${to} was compacted away`, some())
  if (value.is === undefined)
    throw new UserError('not-found', `"${key}" was not there at event ${to}`, some(), { key, seq: to })
  memory.act([['share-set', { key, value: value.is }]], options)
  return mustBeShared(memory, key)
}

export interface EventsOptions {
  /** Only what came after this cursor; without it the latest. */
  since?: number
  /** Only what came before this cursor; without `since` the latest of it. */
  before?: number
  /** At most this many events. A batch is never split, so the last one may exceed it. */
  limit?: number
  /** Leaves out what these sessions did. */
  notOf?(session: string): boolean
  /** Of these types; `share`, `knowledge` and `presence` stand for all of theirs. */
  types?: readonly string[]
  /** Of this key, entity or path. */
  key?: string
}

const SHARE_TYPES: readonly string[] = EVENT_TYPES.share

const groupOf = (e: StreamEvent): keyof typeof EVENT_TYPES =>
  e.event_id.startsWith('presence:') ? 'presence' : SHARE_TYPES.includes(e.event_type) ? 'share' : 'knowledge'

export const isWanted = (e: StreamEvent, { before, notOf, types, key }: EventsOptions): boolean =>
  !(before !== undefined && e.seq >= before) &&
  !(e.session_id !== null && notOf?.(e.session_id)) &&
  (types === undefined || types.includes(e.event_type) || types.includes(groupOf(e))) &&
  (key === undefined || e.key === key)

/** Batches read at once. */
const PAGE = 256
const LATEST = 50

/** What happened, in order; what was put away is read as well. @throws UserError for a type that no event has. */
export function eventsSince(memory: Memory, options: EventsOptions = {}): StreamEvent[] {
  checkTypes(options.types)
  const { since, limit = since === undefined ? LATEST : Number.POSITIVE_INFINITY } = options
  if (since === undefined) return latest(memory, options, limit)
  // one snapshot, or what is put away meanwhile would be read in neither place
  return memory.db.read(() => {
    const stored = storedSince(memory, since, options, limit)
    const known = new Set(stored.map((e) => e.event_id))
    const away = putAway(memory, since, (e) => !known.has(e.event_id) && isWanted(e, options))
    if (away.length === 0) return stored
    const all = [...away, ...stored].sort((a, b) => a.seq - b.seq)
    const last = all[limit - 1]?.seq
    return last === undefined ? all : all.filter((e) => e.seq <= last)
  })
}

function storedSince(memory: Memory, since: number, options: EventsOptions, limit: number): StreamEvent[] {
  const stream = new EventStream(memory.db)
  const out: StreamEvent[] = []
  for (let [cursor, size] = [since, Math.min(PAGE, limit)]; out.length < limit; size = PAGE) {
    const page = memory.newsSince(cursor, size)
    for (const news of page) {
      if (out.length >= limit) break
      if (options.before !== undefined && news.seq >= options.before) return out
      out.push(...stream.eventsOf(news).filter((e) => isWanted(e, options)))
    }
    if (page.length < size) break
    cursor = page.at(-1)!.seq
  }
  return out
}

function latest(memory: Memory, options: EventsOptions, limit: number): StreamEvent[] {
  const last = Math.min(memory.cursor, (options.before ?? Number.POSITIVE_INFINITY) - 1)
  for (let back = limit; ; back *= 4) {
    const found = eventsSince(memory, { ...options, since: Math.max(0, last - back), limit: Number.POSITIVE_INFINITY })
    if (found.length >= limit || back >= last) {
      const first = found.at(-limit)?.seq ?? 0
      return found.filter((e) => e.seq >= first)
    }
  }
}

/** Calls back with every event after `since`, by whatever process. Returns the way to stop. */
export function followEvents(
  memory: Memory,
  onEvent: (events: readonly StreamEvent[]) => void,
  options: Omit<EventsOptions, 'limit'> = {},
): () => void {
  checkTypes(options.types)
  const stream = new EventStream(memory.db)
  let { since } = options
  if (since !== undefined && since < archivedUpTo(memory.db)) {
    const now = memory.cursor
    const before = eventsSince(memory, options).filter((e) => e.seq <= now)
    if (before.length > 0) onEvent(before)
    since = Math.max(since, now)
  }
  return memory.subscribe(
    (news) => {
      const events = stream.eventsOf(news).filter((e) => isWanted(e, options))
      if (events.length > 0) onEvent(events)
    },
    since === undefined ? {} : { since },
  )
}

export interface ShareOptions extends ActOptions {
  /** Write only if the key still has this version; 0: not there yet. */
  expectedVersion?: number
}

/** Values that all sessions of a project share under keys. */
export interface SharedStore {
  get(key: string): SharedValue | undefined
  /** Every key, by name. */
  list(): SharedValue[]
  /** All of it, with the sessions that live. */
  context(): SharedContext
  /** Keeps the value as given. @throws UserError `refused` if not accepted, or if `expectedVersion` is stale. */
  set(key: string, value: Json, options?: ShareOptions): SharedValue
  /** Adds an item, or each of a list, to a list; what is in it already is not added again. */
  append(key: string, value: Json, options?: ShareOptions): SharedValue
  /** Merges maps key by key, lists as unions; anything else takes the place of what was there. */
  merge(key: string, value: Json, options?: ShareOptions): SharedValue
  /** Takes the key out, or what equals `item` out of its list, or `path` out of its map. */
  delete(key: string, options?: ShareOptions & { item?: Json; path?: readonly string[] }): SharedValue | undefined
  /** Sets a key to what it held after an event, also when it was deleted since. */
  rollback(key: string, to: number, options?: ActOptions): SharedValue
  /** What happened to a key, newest first. */
  history(key: string, limit?: number): StreamEvent[]
}

export function sharedStore(memory: Memory): SharedStore {
  const write =
    (verb: string) =>
    (key: string, what: object, { expectedVersion, ...options }: ShareOptions = {}): SharedValue | undefined => {
      sessionsOf(memory).keepAlive(options.session)
      memory.act([[verb, defined({ key, ...what, expectedVersion })]], options)
      return getShared(memory, key)
    }
  const writeValue = (verb: string) => (key: string, value: Json, options?: ShareOptions) =>
    write(verb)(key, { value }, options) ?? missing(memory, key)
  return {
    get: (key) => getShared(memory, key),
    list: () => listShared(memory),
    context: () => sharedContext(memory),
    set: writeValue('share-set'),
    append: writeValue('share-append'),
    merge: writeValue('share-merge'),
    delete: (key, { item, path, ...options } = {}) =>
      write('share-delete')(key, defined({ item, path: path && [...path] }), options),
    rollback: (key, to, options) => rollbackShared(memory, key, to, options),
    history: (key, limit) => sharedHistory(memory, key, limit),
  }
}
