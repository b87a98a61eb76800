import { UserError } from '../errors.ts'
import type { Stamp, StampRef } from '../log/cells.ts'
import type { Event } from '../log/events.ts'
import { canonical } from '../model/canonical.ts'
import { sha256 } from '../model/digest.ts'
import { isTooDeep } from '../model/exact.ts'
import type { Json } from '../model/field.ts'
import { isObject } from '../model/object.ts'
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
  /** The replica's public key, and its signature: on what came from others. */
  key?: string
  sig?: string
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
  /** The replica's lines from this one on, up to here, stay on its machine: this line follows the one before them. */
  readonly from?: number
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
  /** The line bears a signature, and without it is the one that `hash` is of. */
  readonly whole?: boolean
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
  f?: number
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

export function unpackEvent(raw: RawEvent, { ms, replica }: Omit<Stamp, 'ctr'>): Event {
  const { e: entity, f: field, o: op, c: ctr, x: over = [] } = raw
  const event: { -readonly [K in keyof Event]: Event[K] } = { entity, field, op, stamp: { ms, replica, ctr }, over }
  if (raw.v !== undefined) event.value = raw.v
  if (raw.w !== undefined) event.was = raw.w
  if (raw.l) event.list = true
  if (raw.p !== undefined) event.pos = raw.p
  if (raw.t !== undefined) event.path = raw.t
  if (raw.z) event.purged = true
  return event
}

export const eventBody = (e: Event): string => JSON.stringify(packEvent(e))

/** Events of one entity in a row, without its id. */
export const runBody = (events: readonly Event[]): string =>
  JSON.stringify(events.map((e) => ({ ...packEvent(e), e: undefined })))

/** The events of such a row. Versions before 12 of the schema kept each event in a row of its own, with the id. */
export function unpackRun(body: string, entity: string, stamp: Omit<Stamp, 'ctr'>): Event[] {
  const raw = stored<RawEvent | RawEvent[]>(body)
  return (Array.isArray(raw) ? raw : [raw]).map((one) => {
    one.e = entity
    return unpackEvent(one, stamp)
  })
}

const base64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')

function content(line: Omit<Line, 'hash'>): Omit<RawLine, 'h' | 'sub'> {
  const updates: Record<string, string> = {}
  for (const [entity, update] of line.updates) updates[entity] = base64(update)
  return {
    v: 1,
    r: line.replica,
    n: line.seq,
    ...(line.from !== undefined ? { f: line.from } : {}),
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

/** What a line's signature speaks of: everything in it but that. */
export function signedPart(line: Line): string {
  const { sig: _, ...author } = line.author
  return canonical({ ...content({ ...line, author }), h: line.hash } as unknown as Json)
}

function rawOf(line: Line): RawLine {
  const raw = content(line)
  const sub = line.substitute ? { sub: sha256(canonical(raw as unknown as Json)) } : {}
  return { ...raw, ...sub, h: line.hash }
}

/** Lines that were just read, as `printLine` gives them: nearly all of the text they came in. A line made of one is another. */
const asText = new WeakMap<Line, string>()

/** The line as text, without a line break. */
export const printLine = (line: Line): string => asText.get(line) ?? JSON.stringify(rawOf(line))

/**
 * Remembers the text of a line that was read from another order of its header, or with a signature that it is kept without.
 * Whatever was written in another way is printed anew: what is kept always reads as what was read.
 */
function keepText(line: Line, from: string, raw: RawLine): void {
  const { v, r, n, f, p, at, by, sum, sub, h } = raw
  const follows = { v, r, n, ...(f !== undefined ? { f } : {}), p, at }
  const header = JSON.stringify({ sum, by, ...follows }).slice(0, -1)
  const end = `${sub === undefined ? '' : `,"sub":${JSON.stringify(sub)}`},"h":${JSON.stringify(h)}}`
  if (!from.startsWith(`${header},"u":`) || !from.endsWith(end)) return
  const content = from.slice(header.length, -end.length)
  // of what is said twice the last counts: nothing of it may take the place of what is left out or changed
  if (content.includes('"by"') || content.includes('"sub"') || content.includes('\\u')) return
  const kept = JSON.stringify({ ...follows, by: line.author, sum }).slice(0, -1)
  asText.set(line, `${kept}${content},"h":${JSON.stringify(h)}}`)
}

/** The line as text with what a reviewer reads first. */
export function printReadable(line: Line): string {
  const { sum, by, ...rest } = rawOf(line)
  return JSON.stringify({ sum, by, ...rest })
}

/** The first of the lines that a line stands for. */
export const firstOf = (line: Line): number => line.from ?? line.seq

export const isCount = (v: unknown): boolean => Number.isSafeInteger(v) && (v as number) >= 0
export const isText = (v: unknown): boolean => typeof v === 'string'
export const listOf = (is: (v: unknown) => boolean) => (v: unknown) => Array.isArray(v) && v.every(is)
const isPair = (v: unknown): boolean => Array.isArray(v) && isText(v[0]) && isCount(v[1])
export const orNone = (is: (v: unknown) => boolean) => (v: unknown) => v === undefined || is(v)
export const hasAll = (v: unknown, shape: { readonly [key: string]: (v: unknown) => boolean }): boolean =>
  isObject(v) && Object.keys(shape).every((key) => shape[key]!(v[key]))

const OPS: readonly unknown[] = ['set', 'clear', 'add', 'remove', 'put', 'drop'] satisfies Event['op'][]
export const isEntity = (v: unknown): boolean => typeof v === 'string' && v.indexOf(':') > 0
const EVENT = {
  e: isEntity,
  f: isText,
  o: (v: unknown) => OPS.includes(v),
  c: isCount,
  p: orNone((v) => typeof v === 'number'),
  t: orNone(listOf(isText)),
  x: orNone(listOf(isPair)),
}
const PURGE = { r: isText, n: isCount, h: isText, e: isText, c: orNone(listOf(isCount)), w: orNone(listOf(isCount)), b: orNone(listOf(isPair)) } // biome-ignore format: one row

export const isEvent = (v: unknown): boolean => hasAll(v, EVENT)
export const isPurge = (v: unknown): boolean => hasAll(v, PURGE)

/** Whether everything in a line has its type: what comes from others is handed on as it is. */
const isWellFormed = (raw: RawLine): boolean =>
  hasAll(raw, {
    p: isText,
    sum: isText,
    at: isCount,
    by: (v) => isObject(v) && Object.entries(v).every(([key, w]) => (key === 'undoes' ? listOf(isText) : isText)(w)),
    u: (v) => isObject(v) && Object.entries(v).every(([id, update]) => isEntity(id) && isText(update)),
    e: listOf(isEvent),
    x: orNone(listOf(isPurge)),
    k: orNone(listOf(isPair)),
  }) && raw.at <= MOST_MS

/** The last moment that a date can be. */
const MOST_MS = 8.64e15

/** Reads a line and checks its hash; a damaged one is refused. */
export function parseLine(textLine: string): Line {
  const damaged = (why: string) =>
    new UserError(
      'line-damaged',
      `a log line is damaged: ${why}`,
      'ask the sender to send it again; nothing of it was taken',
    )
  // its canonical text is made by recursion
  if (isTooDeep(textLine)) throw damaged('it is nested too deep')
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
  if (raw.f !== undefined && !(Number.isSafeInteger(raw.f) && raw.f >= 1 && raw.f < raw.n))
    throw damaged('it does not say which line it follows')
  if (!Array.isArray(raw.e) || typeof raw.u !== 'object' || raw.u === null)
    throw damaged('events or updates are missing')
  if (!isWellFormed(raw)) throw damaged('it holds something of another type than it says')
  const { h, sub, ...rest } = raw
  const hashOf = (said: object) => sha256(canonical(said as Json))
  if (sub !== undefined && raw.by.sig !== undefined && hashOf({ ...rest, by: withoutSignature(raw.by) }) === h)
    return wholeOf(raw, textLine)
  if (hashOf(rest) !== (sub ?? h)) throw damaged(`the hash of ${raw.r}:${raw.n} does not fit its content`)
  const line = unpackLine(raw)
  if (sub === undefined) keepText(line, textLine, raw)
  return line
}

/** The line without the signature that it came with, by that line. */
const unsignedOf = new WeakMap<Line, Line>()
function wholeOf(raw: RawLine, textLine: string): Line {
  const line: Line = { ...unpackLine(raw), whole: true }
  const plain = unsigned(line)
  keepText(plain, textLine, raw)
  unsignedOf.set(line, plain)
  return line
}

/** All of a line but its content. */
export type LineHead = Omit<Line, 'updates' | 'events' | 'purges' | 'forks'>

/**
 * A line that another thread has checked, from its head and its text as kept. Its content is parsed at first use. `signed`: the
 * author with the signature, if the line came with one.
 */
export function lineOfHead(head: LineHead, text: string, signed: Author | undefined): Line {
  let read: Line | undefined
  const content = () => (read ??= readLine(text))
  const lineBy = (more: Partial<LineHead>): Line => ({
    ...head,
    ...more,
    purges: [],
    get updates() {
      return content().updates
    },
    get events() {
      return content().events
    },
  })
  const line = lineBy({})
  asText.set(line, text)
  if (!signed) return line
  const whole = lineBy({ author: signed, substitute: true, whole: true })
  unsignedOf.set(whole, line)
  return whole
}

function withoutSignature({ key: _key, sig: _sig, ...author }: Author): Author {
  return author
}

/** The line as its replica keeps it: the signature has been checked, and is not needed any more. */
export function unsigned(line: Line): Line {
  if (!line.whole) return line
  const known = unsignedOf.get(line)
  if (known) return known
  const { whole: _whole, substitute: _substitute, ...said } = line
  return { ...said, author: withoutSignature(line.author) }
}

/** Reads a line of the own log, which was checked when it came in. */
export const readLine = (textLine: string): Line => unpackLine(stored<RawLine>(textLine))

function unpackLine(raw: RawLine): Line {
  return {
    replica: raw.r,
    seq: raw.n,
    ...(raw.f !== undefined ? { from: raw.f } : {}),
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
