/**
 * feed: what happened, in one order for everybody: committed batches, shared values, and the coming and going of
 * sessions. `news.ts` reads it from a cursor on, `event-types.ts` names its events.
 */

import { keptUpTo } from '../../base/lookup.ts'
import { canonical } from '../../model/canonical.ts'
import { sha256 } from '../../model/digest.ts'
import { kindOf, LINK_KIND } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { type Cell, type Cells, cellKey, STATE, type StateValue, seen } from '../log/cells.ts'
import { decode, extend, isOfWhole, SHARED_FIELD, SHARED_KIND, standsAt, withAdded } from '../log/context-value.ts'
import { cellOf, type Event, overwritten, valueBefore } from '../log/events.ts'
import { fold } from '../log/fold.ts'
import type { Db } from '../store/db.ts'
import { arrivedBefore, eventsOf, type LoggedEvent } from '../store/log.ts'
import { idsOfKind } from '../store/rows.ts'
import type { News } from './news.ts'

/** One event as everybody gets it. Of a shared key `value` is the whole value, or what was appended (`valueAfter`). */
export interface StreamEvent {
  event_id: string
  /** The cursor after it; several of one batch share it and are never given apart. */
  seq: number
  session_id: string | null
  timestamp: string
  /** update, delete, merge: the shared context · recorded, changed, deleted …: an entity · claimed …: a session. */
  event_type: string
  /** A key of the shared context, an entity's id, or what a session did it to. */
  key: string
  value: Json
  previous_value: Json
  /** SHA-256 of the value in canonical JSON. */
  context_hash: string
  /** What the batch said, where somebody else's later word stands, or both stand merged. */
  said?: Json
}

export const valueAfter = (
  before: Json | undefined,
  e: Pick<StreamEvent, 'event_type' | 'value' | 'previous_value'>,
) =>
  e.event_type === 'delete'
    ? undefined
    : e.event_type === 'merge' && e.previous_value === null
      ? withAdded(before, e.value)
      : e.value

export const hashOf = (value: Json): string => sha256(canonical(value))

const refOf = (c: { readonly replica: string; readonly ctr: number }) => `${c.replica}:${c.ctr}`

class Replay {
  readonly cells: Cells = new Map()
  readonly #gone = new Set<string>()
  #erased = false
  /** A delete stands, which may hide what it had seen. */
  #deleted = false
  #state: SharedState | undefined

  get state(): SharedState {
    return (this.#state ??= stateOf(this))
  }

  add(e: Event): void {
    this.#erased ||= e.purged === true
    this.#state = undefined
    for (const key of overwritten(this.cells, e)) this.cells.delete(key)
    for (const [replica, ctr] of e.over) this.#gone.add(`${replica}:${ctr}`)
    const cell = cellOf(e)
    if (cell && !this.#gone.has(refOf(cell.stamp))) this.cells.set(cellKey(cell), cell)
    if (e.field === STATE)
      this.#deleted = seen(this.cells, STATE).some((c) => (c.value as unknown as StateValue).s === 'deleted')
  }

  /** Adds events that only append to lists, and returns what they add. Not after an erasure: then the whole value is sent. */
  extend(events: readonly Event[]): Json | undefined {
    const { state } = this
    const said = events.filter((e) => e.field === SHARED_FIELD)
    const isPlain = events.every((e) => e.field === 'provenance' || (e.field === SHARED_FIELD && !e.purged))
    if (!isPlain || this.#erased || this.#deleted || !state.live) return undefined
    if (said.some((e) => this.#gone.has(refOf(e.stamp)))) return undefined
    const added = extend(state.field, said)
    if (added === undefined) return undefined
    for (const e of events) this.add(e)
    this.#state = state
    return added
  }
}

export interface SharedState {
  readonly key: string | undefined
  readonly live: boolean
  readonly value: Json
  /** The field as it is folded, undecoded. */
  readonly field: Json | undefined
}

function stateOf(replay: Replay): SharedState {
  const { live, fields } = fold(replay.cells)
  const field = live ? fields[SHARED_FIELD] : undefined
  return {
    key: typeof fields.key === 'string' ? fields.key : undefined,
    live,
    get value() {
      return field === undefined ? null : decode(field)
    },
    field,
  }
}

/** All of the shared context, by entity, as its events tell it. */
export const sharedStates = (db: Db): Map<string, SharedState> =>
  new Map(
    idsOfKind(db, SHARED_KIND).map((id) => {
      const replay = new Replay()
      for (const e of arrivedBefore(db, id, Number.MAX_SAFE_INTEGER)) replay.add(e)
      return [id, replay.state]
    }),
  )

/** The value of a key before the event with this number; undefined where it was not there. */
export function sharedBefore(db: Db, id: string, seq: number): Json | undefined {
  const replay = new Replay()
  for (const e of arrivedBefore(db, id, seq)) replay.add(e)
  return replay.state.live ? replay.state.value : undefined
}

/** Keys whose state a stream keeps at once. */
const MAX_REPLAYS = 200

export class EventStream {
  readonly #db: Db
  readonly #entities: boolean
  readonly #replays = new Map<string, Replay>()
  readonly #told = new Set<string>()

  /** `entities`: for the archive, where events also name their entity, and the first of each key has the whole value. */
  constructor(db: Db, options: { entities?: boolean } = {}) {
    this.#db = db
    this.#entities = options.entities ?? false
  }

  /** The next event of each key for the archive has all of its value again. */
  tellWhole(): void {
    this.#told.clear()
  }

  eventsOf(news: News): StreamEvent[] {
    if (news.presence) return [presenceEvent(news)]
    if (news.events.some((e) => e.event.purged)) this.#replays.clear() // what was erased is not told again
    return [...Map.groupBy(news.events, (e) => e.event.entity)].flatMap(([id, own]) => {
      return (kindOf(id) === SHARED_KIND ? this.#shared(id, own, news) : knowledge(this.#db, id, own)).map((x, i) => ({
        ...head(news, `${own[0]!.id}${i === 0 ? '' : `+${i}`}`),
        ...x,
        context_hash: hashOf(x.value),
        ...(this.#entities && x.key !== id ? { entity: id } : {}),
      }))
    })
  }

  #shared(id: string, own: readonly LoggedEvent[], news: News): Told[] {
    const replay = this.#replay(id, news.seq)
    const before = replay.state
    const events = own.map((e) => e.event)
    const isMerge = sharedType(own, before, before) === 'merge'
    const mustBeWhole = !isMerge || (this.#entities && !this.#told.has(id))
    this.#told.add(id)
    const added = mustBeWhole ? undefined : replay.extend(events)
    if (added !== undefined) return [{ event_type: 'merge', key: before.key ?? id, value: added, previous_value: null }]
    for (const event of events) replay.add(event)
    const after = replay.state
    const said = saidOnly(own, after)
    const key = after.key ?? before.key ?? id
    const renamed = before.live && before.key !== undefined && before.key !== key
    const same = before.live === after.live && canonical(before.value) === canonical(after.value)
    if (same && !renamed && said === undefined) return []
    const now = {
      event_type: renamed && after.live ? 'update' : sharedType(own, before, after),
      key,
      value: after.value,
      previous_value: renamed ? null : before.value,
      ...(said !== undefined ? { said } : {}),
    }
    if (!renamed) return [now]
    const gone = { event_type: 'delete', key: before.key!, value: null, previous_value: before.value }
    return after.live ? [gone, now] : [gone]
  }

  #replay(id: string, seq: number): Replay {
    return keptUpTo(MAX_REPLAYS, this.#replays, id, () => {
      const replay = new Replay()
      for (const e of arrivedBefore(this.#db, id, seq)) replay.add(e)
      return replay
    })
  }
}

type Told = Pick<StreamEvent, 'event_type' | 'key' | 'value' | 'previous_value' | 'said'>

const head = (news: News, event_id: string) => ({
  event_id,
  seq: news.seq,
  session_id: news.author.session ?? null,
  timestamp: new Date(news.at).toISOString(),
})

/** The value that a batch wrote, where not all of it stands. */
function saidOnly(own: readonly LoggedEvent[], after: SharedState): Json | undefined {
  const cells: Cells = new Map()
  let lost = false
  for (const { event } of own) {
    const cell: Cell | undefined = event.field === SHARED_FIELD && event.op === 'put' ? cellOf(event) : undefined
    if (!cell?.path || event.purged) continue
    cells.set(cellKey(cell), cell)
    lost ||= !standsAt(after.field, cell.path, cell.value ?? null)
  }
  const field = lost ? fold(cells).fields[SHARED_FIELD] : undefined
  return field === undefined ? undefined : decode(field)
}

/** A delete leaves no key behind. What says nothing of the whole value is merged into it. */
function sharedType(own: readonly LoggedEvent[], before: SharedState, after: SharedState): string {
  if (!after.live) return 'delete'
  const written = own.filter((e) => e.event.field === SHARED_FIELD)
  return before.live && !written.some((e) => isOfWhole(e.event)) ? 'merge' : 'update'
}

const LONGEST = 200
const MOST_ITEMS = 20

/** A value that is long is told in part: the event says that something was said, the entity what. */
const short = (v: Json): Json => {
  const text = typeof v === 'string' ? v : canonical(v)
  return text.length <= LONGEST ? v : `${text.slice(0, LONGEST).toWellFormed()}…`
}

const STATES: Readonly<Record<string, string>> = { created: 'recorded', deleted: 'deleted', restored: 'restored' }
const LINK_STATES: Readonly<Record<string, string>> = { created: 'linked', deleted: 'unlinked', restored: 'linked' }

/** An entity: what was said of each field, and what it said before where the event knows it. */
function knowledge(db: Db, id: string, own: readonly LoggedEvent[]): Told[] {
  const value: { [field: string]: Json } = {}
  const previous: { [field: string]: Json } = {}
  let state: string | undefined
  let known: readonly Event[] | undefined
  const all = () => (known ??= eventsOf(db, id).map((e) => e.event))
  for (const { event: e } of own) {
    if (e.purged) return [{ event_type: 'erased', key: id, value: null, previous_value: null }]
    if (e.field === STATE) {
      const { s, ...why } = e.value as unknown as StateValue & { reason?: string }
      state = (kindOf(id) === LINK_KIND ? LINK_STATES : STATES)[s]
      if (why.reason !== undefined) value.reason = short(why.reason)
      continue
    }
    if (e.field === 'provenance' || Object.keys(value).length >= MOST_ITEMS) continue
    const field = e.path?.length ? `${e.field}.${e.path.join('.')}` : e.field
    if (e.op === 'add') value[field] = added(value[field], e.value ?? null)
    else if (e.op === 'remove' && e.value !== undefined) previous[field] = added(previous[field], e.value)
    else if (e.op === 'set' || e.op === 'put') value[field] = short(e.value ?? null)
    else value[field] = null
    const was = e.op === 'add' || e.op === 'remove' ? undefined : valueBefore(e, all())
    if (was !== undefined) previous[field] = short(was)
  }
  if (state === undefined && Object.keys(value).length === 0 && Object.keys(previous).length === 0) return []
  const told = {
    event_type: state ?? 'changed',
    key: id,
    value: state === 'deleted' || state === 'unlinked' ? null : value,
    previous_value: Object.keys(previous).length > 0 ? previous : null,
  }
  return [told]
}

const added = (list: Json | undefined, item: Json): Json =>
  Array.isArray(list) ? (list.length < MOST_ITEMS ? [...list, short(item)] : list) : [short(item)]

function presenceEvent(news: News): StreamEvent {
  const { type, body, session } = news.presence!
  return {
    ...head(news, `presence:${news.seq}`),
    session_id: session || null,
    event_type: type,
    key: String([body.on, body.path, body.task, body.role].find((v) => typeof v === 'string') ?? session),
    value: body,
    previous_value: null,
    context_hash: hashOf(body),
  }
}
