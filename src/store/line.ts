import { UserError } from '../errors.ts'
import type { Stamp, StampRef } from '../log/cells.ts'
import type { Event } from '../log/events.ts'
import { canonical } from '../model/canonical.ts'
import { sha256 } from '../model/digest.ts'
import type { Json } from '../model/field.ts'
import { stored } from './db.ts'

/** Who wrote a batch, from where, and what for: plain provenance. */
export interface Author {
  session?: string
  agent?: string
  user?: string
  branch?: string
  commit?: string
  task?: string
  source?: string
  intent?: string
  /** Batches that this one takes back. */
  undoes?: string[]
}

/** What a purge erases of one line (K15). */
export interface PurgeMark {
  readonly replica: string
  readonly seq: number
  readonly hash: string
  /** The entity, or its tombstone when all of it goes. */
  readonly entity: string
  /** Counters of the writes whose content goes; all of the entity's when absent. */
  readonly writes?: readonly number[]
  /** Counters of the writes of which only goes what was there before them. */
  readonly was?: readonly number[]
  /** Writes they overwrote that the purger knows no longer, and what those overwrote: they may have said it too. */
  readonly before?: readonly StampRef[]
}

/** One batch as it is kept and exchanged (K10). */
export interface Line {
  readonly replica: string
  readonly seq: number
  /** Hash of the replica's line before this one, empty for the first. */
  readonly prev: string
  readonly hash: string
  readonly at: number
  readonly author: Author
  /** What a reviewer reads in a pull request. */
  readonly summary: string
  readonly updates: ReadonlyMap<string, Uint8Array>
  readonly events: readonly Event[]
  /** Lines whose content for an entity this line erases. */
  readonly purges: readonly PurgeMark[]
  /** Identities that two stores have written under, and from which line on they count no longer (K12). */
  readonly forks?: readonly { replica: string; from: number }[]
  /** This line stands in for one whose content was erased: `hash` is the erased one's. */
  readonly substitute?: boolean
}

type RawEvent = {
  e: string
  f: string
  o: Event['op']
  c: number
  v?: Json
  w?: Json
  l?: 1
  p?: number
  t?: string[]
  x?: StampRef[]
  z?: 1
}

interface RawLine {
  v: 1
  r: string
  n: number
  p: string
  at: number
  by: Author
  sum: string
  u: Record<string, string>
  e: RawEvent[]
  x?: {
    r: string
    n: number
    h: string
    e: string
    c?: readonly number[]
    w?: readonly number[]
    b?: readonly StampRef[]
  }[]
  k?: [replica: string, from: number][]
  sub?: string
  h: string
}

function packEvent(e: Event): RawEvent {
  const raw: RawEvent = { e: e.entity, f: e.field, o: e.op, c: e.stamp.ctr }
  if (e.value !== undefined) raw.v = e.value
  if (e.was !== undefined) raw.w = e.was
  if (e.list) raw.l = 1
  if (e.pos !== undefined) raw.p = e.pos
  if (e.path !== undefined) raw.t = [...e.path]
  if (e.over.length > 0) raw.x = [...e.over]
  if (e.purged) raw.z = 1
  return raw
}

export function unpackEvent(raw: RawEvent, stamp: Omit<Stamp, 'ctr'>): Event {
  return {
    entity: raw.e,
    field: raw.f,
    op: raw.o,
    stamp: { ...stamp, ctr: raw.c },
    over: raw.x ?? [],
    ...(raw.v !== undefined ? { value: raw.v } : {}),
    ...(raw.w !== undefined ? { was: raw.w } : {}),
    ...(raw.l ? { list: true } : {}),
    ...(raw.p !== undefined ? { pos: raw.p } : {}),
    ...(raw.t !== undefined ? { path: raw.t } : {}),
    ...(raw.z ? { purged: true } : {}),
  }
}

export const eventBody = (e: Event): string => JSON.stringify(packEvent(e))

function content(line: Omit<Line, 'hash'>): Omit<RawLine, 'h' | 'sub'> {
  const updates: Record<string, string> = {}
  for (const [entity, update] of line.updates) updates[entity] = Buffer.from(update).toString('base64')
  return {
    v: 1,
    r: line.replica,
    n: line.seq,
    p: line.prev,
    at: line.at,
    by: line.author,
    sum: line.summary,
    u: updates,
    e: line.events.map(packEvent),
    ...(line.forks?.length ? { k: line.forks.map((f): [string, number] => [f.replica, f.from]) } : {}),
    ...(line.purges.length > 0
      ? {
          x: line.purges.map((p) => ({
            r: p.replica,
            n: p.seq,
            h: p.hash,
            e: p.entity,
            ...(p.writes ? { c: p.writes } : {}),
            ...(p.was ? { w: p.was } : {}),
            ...(p.before ? { b: p.before } : {}),
          })),
        }
      : {}),
  }
}

/** Gives a line its hash: SHA-256 over everything in it but the hash. */
export function seal(line: Omit<Line, 'hash' | 'substitute'>): Line {
  return { ...line, hash: sha256(canonical(content(line) as unknown as Json)) }
}

/** The line as text, without a line break. */
export function printLine(line: Line): string {
  const raw = content(line)
  if (!line.substitute) return JSON.stringify({ ...raw, h: line.hash })
  return JSON.stringify({ ...raw, sub: sha256(canonical(raw as unknown as Json)), h: line.hash })
}

/** Reads a line and checks its hash; a damaged one is refused. */
export function parseLine(textLine: string): Line {
  const damaged = (why: string) =>
    new UserError(
      'line-damaged',
      `a log line is damaged: ${why}`,
      'ask the sender to send it again; nothing of it was taken',
    )
  let raw: RawLine
  try {
    raw = JSON.parse(textLine) as RawLine
  } catch {
    throw damaged('it is not JSON')
  }
  if (raw === null || typeof raw !== 'object' || raw.v !== 1)
    throw damaged('it is not a line of a version this Tidemark knows')
  if (
    typeof raw.r !== 'string' ||
    !Number.isSafeInteger(raw.n) ||
    raw.n < 1 ||
    typeof raw.h !== 'string' ||
    typeof raw.at !== 'number'
  ) {
    throw damaged('replica, sequence or hash is missing')
  }
  if (!Array.isArray(raw.e) || typeof raw.u !== 'object' || raw.u === null)
    throw damaged('events or updates are missing')
  const { h, sub, ...rest } = raw
  const computed = sha256(canonical(rest as unknown as Json))
  if (computed !== (sub ?? h)) throw damaged(`the hash of ${raw.r}:${raw.n} does not fit its content`)
  return unpackLine(raw)
}

/** Reads a line of the own log, which was checked when it came in. */
export const readLine = (textLine: string): Line => unpackLine(stored<RawLine>(textLine))

function unpackLine(raw: RawLine): Line {
  return {
    replica: raw.r,
    seq: raw.n,
    prev: raw.p,
    hash: raw.h,
    at: raw.at,
    author: raw.by,
    summary: raw.sum,
    updates: new Map(Object.entries(raw.u).map(([id, b64]) => [id, new Uint8Array(Buffer.from(b64, 'base64'))])),
    events: raw.e.map((e) => unpackEvent(e, { ms: raw.at, replica: raw.r })),
    purges: (raw.x ?? []).map((p) => ({
      replica: p.r,
      seq: p.n,
      hash: p.h,
      entity: p.e,
      ...(p.c ? { writes: p.c } : {}),
      ...(p.w ? { was: p.w } : {}),
      ...(p.b ? { before: p.b } : {}),
    })),
    ...(raw.k ? { forks: raw.k.map(([replica, from]) => ({ replica, from })) } : {}),
    ...(raw.sub !== undefined ? { substitute: true } : {}),
  }
}
