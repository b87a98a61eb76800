import { canonical } from '../../model/canonical.ts'
import { digest64 } from '../../model/digest.ts'
import { isTooDeep } from '../../model/exact-json.ts'
import type { Json } from '../../model/field.ts'
import { isObject, jsonIn } from '../../model/object.ts'
import { type Seen, STATE } from '../log/cells.ts'
import { type Event, renamed } from '../log/events.ts'
import { stored } from './db.ts'
import {
  type Author, covered, damaged, ERASED_ID, entityIn, erasedId, type HiddenRun, hasOnly, isCount, isDigest, isEntity,
  isOne, isPair, isRawEvent, isText, isTombstone, type Line, listOf, MARK, MOST_MS, newer, type OpenRun, orNone, packEvent,
  packMark, type RawEvent, type RawFirst, type RawLine, type RawMark, type RawRun, type Redaction, type Signature,
  unpackEvent, unpackMark,
} from './line-parts.ts' // biome-ignore format: a list
import { parseFirst, withoutFirst } from './line-v1.ts'
import { runsOf } from './ranges.ts'

export * from './line-parts.ts'

/** So much of a hash names the line before: enough that nobody finds another one. */
const PREV_LENGTH = 22
export const shortHash = (hash: string): string => hash.slice(0, PREV_LENGTH)
export const follows = ({ v, prev }: Line, hash: string): boolean =>
  v === 1 ? prev === hash : prev === shortHash(hash)

const isHidden = (run: RawRun): run is HiddenRun => typeof run[0] === 'number'
const eventsIn = (run: OpenRun): RawEvent[] => run.slice(1).filter((e) => typeof e === 'object') as RawEvent[]

const contentDigest = ({ d, v, t }: RawEvent): string | 0 =>
  d ?? (v === undefined && t === undefined ? 0 : digest64(JSON.stringify([v ?? null, t ?? 0])))

const textIn = (run: OpenRun): string | undefined => run.slice(1).find((e) => typeof e === 'string')

/** Begins what stands in the place of the salt in a run that is known again: the digest of its line, and that of what is known. */
const KNOWN_AGAIN = '='
const isKnownAgain = (run: RawRun): run is OpenRun => !isHidden(run) && textIn(run)?.startsWith(KNOWN_AGAIN) === true

function runDigest(run: RawRun): HiddenRun {
  if (isHidden(run)) return run
  const events = eventsIn(run)
  const mark = isKnownAgain(run) ? textIn(run)! : undefined
  const salt = mark === undefined ? (textIn(run) ?? 0) : 0
  const parts = events.map((e) => [e.f, e.o ?? 0, e.p ?? 0, e.l ?? 0, e.x ?? 0, e.z ?? 0, contentDigest(e)])
  const digest = digest64(JSON.stringify([covered(run[0]), salt, parts]))
  return [events.length, mark?.endsWith(digest) ? mark.slice(1, -digest.length) : digest]
}

const knowsMore = (raw: RawLine | RawFirst): boolean =>
  raw.v === 2 && (raw.e.some(isKnownAgain) || (raw.o !== undefined && knowsMore(raw.o)))

/** The line without what only its store knows of it. */
export const asSealed = (line: Line): Line =>
  knowsMore(line.raw) ? lineOf(sealedRaw(line.raw as RawLine), line.hash) : line

const sealedRaw = (raw: RawLine): RawLine => ({
  ...raw,
  e: raw.e.map((run) => (isKnownAgain(run) ? runDigest(run) : run)),
  ...(raw.o?.v === 2 ? { o: sealedRaw(raw.o) } : {}),
})

const partDigest = (part: object | string): string =>
  typeof part === 'string' ? part : digest64(canonical(part as Json))
const markDigest = (mark: RawMark | string): string =>
  typeof mark === 'string'
    ? mark
    : digest64(JSON.stringify([mark.r, mark.n, mark.h, covered(mark.e), mark.c ?? 0, mark.w ?? 0, mark.b ?? 0]))

/** SHA-256 over the digests of a line's parts. */
function hashOf(raw: RawLine): string {
  const head = [2, raw.r, raw.n, raw.f ?? 0, raw.p ?? '', raw.c, raw.at, raw.l ?? 0, raw.u ?? 0, raw.k ?? 0]
  if (raw.o) return digest64(JSON.stringify([...head, raw.o.h ?? hashOf(raw.o as RawLine), ...(raw.b ? [raw.b] : [])]))
  const parts = [partDigest(raw.by), raw.for === undefined ? 0 : partDigest(raw.for)]
  return digest64(JSON.stringify([...head, ...parts, raw.e.map(runDigest), (raw.x ?? []).map(markDigest)]))
}

/** A line that is to be written: `prev` is the whole hash, and the counters of the events follow each other. */
export interface Unsealed
  extends Pick<Line, 'replica' | 'seq' | 'prev' | 'at' | 'author' | 'events' | 'ctr'>,
    Partial<Pick<Line, 'from' | 'purges' | 'forks' | 'local'>> {
  /** For the events of an entity: what keeps others from guessing them by their digest. */
  salt?(entity: string): string | undefined
}

export function seal(line: Unsealed): Line {
  const { replica, seq, from = seq, prev, at, author, events, ctr, purges = [], forks = [], local, salt } = line
  const { intent, undoes, ...by } = author
  const raw: RawLine = {
    ...{ v: 2, r: replica, n: seq },
    ...(from < seq ? { f: from } : {}),
    ...(prev === '' ? {} : { p: shortHash(prev) }),
    ...{ c: ctr, at, by: by as RawLine['by'] },
    ...(intent === undefined ? {} : { for: { intent } }),
    ...(undoes ? { u: undoes } : {}),
    e: runsIn(events).map((run): OpenRun => {
      const salted = salt?.(run[0]!.entity)
      return [run[0]!.entity, ...run.map((e) => packEvent(e, by as Author)), ...(salted === undefined ? [] : [salted])]
    }),
    ...(purges.length > 0 ? { x: purges.map(packMark) } : {}),
    ...(forks.length > 0 ? { k: forks.map((f) => [f.replica, f.from, ...(f.proof ?? [])]) } : {}),
    ...(local ? { l: 1 } : {}),
  }
  return lineOf(raw, hashOf(raw))
}

/** What keeps others from guessing what a line says of an entity. */
export function saltIn({ raw }: Line, entity: string): string | undefined {
  const run = (raw as RawLine).e.find((r): r is OpenRun => !isHidden(r) && r[0] === entity && !isKnownAgain(r))
  return run && textIn(run)
}

export const runsIn = (events: readonly Event[]): Event[][] =>
  runsOf(events, (e, last) => last.entity === e.entity && last.stamp.ctr + 1 === e.stamp.ctr)

/** A line, from its JSON and its hash; its events are read at first use. */
function lineOf(raw: RawLine, hash: string): Line {
  const told = raw.o ? originalOf(raw) : undefined
  const by: Author = typeof raw.by === 'string' ? {} : (raw.by as Author)
  const author: Author = told?.author ?? {
    ...by,
    ...(typeof raw.for === 'object' ? raw.for : {}),
    ...(raw.u ? { undoes: raw.u } : {}),
  }
  let events: readonly Event[] | undefined
  return {
    v: 2,
    replica: raw.r,
    seq: raw.n,
    from: raw.f ?? raw.n,
    prev: raw.p ?? '',
    hash,
    at: raw.at,
    author,
    get events() {
      return (events ??= told ? told.events.map((e) => underBranches(e, told.replica, raw)) : eventsOf(raw, by))
    },
    purges: told?.purges ?? (raw.x ?? []).flatMap((p) => (typeof p === 'string' ? [] : [unpackMark(p)])),
    forks: (raw.k ?? []).map(([replica, from, ...proof]) => ({
      ...{ replica, from },
      ...(proof.length === 2 ? { proof: proof as [string, string] } : {}),
    })),
    local: raw.l === 1,
    partial: told?.partial ?? isPartial(raw),
    ctr: raw.c,
    raw,
    ...(raw.s === undefined ? {} : { signature: { key: raw.key, sig: raw.s, text: () => textToSign({ hash }) } }),
  }
}

const isPartial = (raw: RawLine): boolean =>
  raw.sub !== undefined ||
  typeof raw.by === 'string' ||
  typeof raw.for === 'string' ||
  raw.e.some((run) => isHidden(run) || ERASED_ID.test(run[0]) || eventsIn(run).some((e) => e.d !== undefined)) ||
  (raw.x ?? []).some((p) => typeof p === 'string' || ERASED_ID.test(p.e))

function eventsOf(raw: RawLine, by: Author): Event[] {
  const events: Event[] = []
  let ctr = raw.c
  for (const run of raw.e) {
    if (isHidden(run)) ctr += run[0]
    else {
      const entity = entityIn(run[0])
      const isErased = ERASED_ID.test(run[0])
      for (const e of eventsIn(run)) {
        const event = unpackEvent(e, entity, { ms: raw.at, replica: raw.r, ctr: ctr++ }, by)
        const isUnsaid = isErased || (event.field === 'provenance' && typeof raw.by === 'string' && e.v === undefined)
        events.push(isUnsaid ? erasedEvent(event) : event)
      }
    }
  }
  return events
}

/** Nothing is left of what an erased entity said, nor of an erased author. */
const erasedEvent = ({ value: _value, path: _path, ...e }: Event): Event => ({
  ...e,
  purged: true,
  erased: e.stamp.replica,
})

export const textToSign = ({ hash }: Pick<Line, 'hash'>): string => `tidemark line ${hash}`

/** The line as a store keeps it, without a line break. */
export function printLine({ raw, hash }: Line): string {
  if (raw.v === 1) return JSON.stringify(raw)
  const { h: _h, s, key: _key, ...said } = raw
  return JSON.stringify({ ...said, h: hash, ...(s === undefined ? {} : { s }) })
}

/** The line as it leaves, with its signature. The hash is left out: a signature is of nothing else. */
export function printSigned({ raw, hash }: Line, { key, sig }: Signature): string {
  const { h: _h, s: _s, key: _key, ...said } = raw as RawLine
  return JSON.stringify({ ...said, ...(sig === '' ? { h: hash } : { s: sig }), ...(key === '' ? {} : { key }) })
}

function isRun(v: unknown): boolean {
  if (!Array.isArray(v) || v.length < 2) return false
  if (typeof v[0] === 'number') return v.length === 2 && isCount(v[0]) && v[0] > 0 && isDigest(v[1])
  if (!isEntity(v[0])) return false
  const events = typeof v.at(-1) === 'string' ? v.slice(1, -1) : v.slice(1)
  // of an erased entity nothing is left but digests
  const isEmpty = (e: RawEvent) => e.v === undefined && e.t === undefined
  return (
    events.length > 0 && events.every(isRawEvent) && (!ERASED_ID.test(v[0]) || (events as RawEvent[]).every(isEmpty))
  )
}

const isFork = (v: unknown): boolean =>
  Array.isArray(v) && (v.length === 2 || v.length === 4) && isPair(v.slice(0, 2)) && v.slice(2).every(isText)
const TAG = /^[0-9a-z]{1,16}$/
const isBranch = (v: unknown): boolean => Array.isArray(v) && v.length === 2 && isCount(v[0]) && isText(v[1])

const isLine = (raw: unknown): raw is RawLine =>
  hasOnly(raw, {
    v: (v) => v === 2,
    r: (r) => isText(r) && TAG.test(r),
    n: (n) => isCount(n) && n >= 1,
    f: orNone((f) => isCount(f) && f >= 1 && f < (raw as RawLine).n),
    p: orNone((p) => isText(p) && p.length === PREV_LENGTH),
    c: isCount,
    at: (at) => isCount(at) && at <= MOST_MS,
    by: (by) => isDigest(by) || (isObject(by) && Object.values(by).every(isText)),
    for: orNone((why) => isDigest(why) || hasOnly(why, { intent: isText })),
    u: orNone(listOf(isText)),
    e: listOf(isRun),
    x: orNone(listOf((x) => isDigest(x) || hasOnly(x, MARK))),
    k: orNone(listOf(isFork)),
    l: orNone(isOne),
    o: orNone((o) => isObject(o) && (raw as RawLine).e.length === 0),
    b: orNone((b) => isObject((raw as RawLine).o) && listOf(isBranch)(b)),
    sub: orNone(isDigest),
    h: orNone(isText),
    s: orNone(isText),
    key: orNone(isText),
  })

const isClean = (v: unknown): boolean =>
  typeof v === 'string'
    ? v.isWellFormed() && !v.includes('\0')
    : !v || typeof v !== 'object' || Object.entries(v).every(([key, inner]) => isClean(key) && isClean(inner))

/** Whether the text says one thing to every reader: JSON allows double keys and other spellings (K7). */
const isAsWritten = (text: string, raw: unknown): boolean =>
  JSON.stringify(raw) === text && (!/\\u(?:0000|d)/.test(text) || isClean(isObject(raw) && raw.v === 1 ? raw.e : raw))

/** Reads a line, and checks its shape and hash, not its signature. `own`: from the own store. `key`: named earlier in the file. */
export function parseLine(text: string, own = false, key?: string): Line {
  // canonical text is made by recursion
  if (isTooDeep(text)) throw damaged('it is nested too deep')
  const raw = jsonIn(text)
  if (raw === undefined) throw damaged('it is not JSON')
  if (!own && !isAsWritten(text, raw)) throw damaged('its text is not written as Tidemark writes it')
  if (isObject(raw) && raw.v === 1) return parseFirst(raw as unknown as RawFirst)
  if (isObject(raw) && typeof raw.v === 'number' && raw.v > 2) throw newer(raw.v)
  if (!isLine(raw)) throw damaged('it does not have the shape of a line')
  if (!own && knowsMore(raw)) throw damaged(`${raw.r}:${raw.n} says what only its own store may know`)
  return checkedLine(raw.key === undefined && key !== undefined ? { ...raw, key } : raw, own)
}

function checkedLine(raw: RawLine, own: boolean): Line {
  const { h, sub, ...said } = raw
  if (sub !== undefined && own && h !== undefined) {
    if (hashOf(said) !== sub) throw damaged(`the hash of ${raw.r}:${raw.n} does not fit its content`)
    return lineOf(raw, h)
  }
  if (sub !== undefined || (h === undefined && raw.s === undefined)) throw damaged(`${raw.r}:${raw.n} has no hash`)
  if (raw.o && !isOriginal(raw, own)) throw damaged(`${raw.r}:${raw.n} does not stand for the line that it says`)
  const hash = hashOf(raw)
  if (h !== undefined && h !== hash) throw damaged(`the hash of ${raw.r}:${raw.n} does not fit its content`)
  return lineOf(raw, hash)
}

/** Reads a line of the own log, which was checked when it came in. */
export function readLine(text: string): Line {
  const raw = stored<RawLine | RawFirst>(text)
  return raw.v === 1 ? parseFirst(raw, true) : lineOf(raw, raw.h!)
}

/** Whether a line stands in for one that was lost: it names no line before it, and its hash is one in name. */
export const isStandIn = ({ raw }: Line): boolean => raw.v === 2 && (raw.o?.v === 2 ? raw.o : raw).sub !== undefined

export function standIn(line: Unsealed, hash: string): Line {
  const { raw, hash: sub } = seal(line)
  return lineOf({ ...(raw as RawLine), sub, h: hash }, hash)
}

/** A line completed from events that are known here; the same line where these are not all that it leaves out. */
export function pieced(line: Line, events: readonly Event[]): Line {
  const { raw, hash } = line
  if (raw.v === 1) return line
  const more = new Map(events.map((e) => [e.stamp.ctr, e]))
  let next = raw.c
  const runs = raw.e.map((run): RawRun => {
    const first = next
    next += isHidden(run) ? run[0] : eventsIn(run).length
    if (!isHidden(run)) return run
    const own = Array.from({ length: run[0] }, (_, i) => more.get(first + i))
    const entity = own[0]?.entity
    if (entity === undefined || own.some((e) => e?.entity !== entity)) return run
    const events = own.map((e) => packEvent(e!))
    return [entity, ...events, `${KNOWN_AGAIN}${run[1]}${runDigest([entity, ...events])[1]}`]
  })
  return runs.some((run, i) => run !== raw.e[i]) ? lineOf({ ...raw, e: runs }, hash) : line
}

/** The line without its signature: for one that is known by its hash, and whose signature is damaged. */
export function withoutSignature({ raw, hash }: Line): Line {
  const { s: _s, key: _key, ...said } = raw as RawLine
  return lineOf(said, hash)
}

const isErasedIn = ({ partial, raw }: Line): boolean =>
  partial &&
  (raw.v === 1 ||
    raw.o !== undefined ||
    typeof raw.by === 'string' ||
    raw.e.some((run) => !isHidden(run) && (ERASED_ID.test(run[0]) || eventsIn(run).some((e) => e.d !== undefined))))

export const leavesOut = (line: Line): boolean => line.partial && !isStandIn(line) && !isErasedIn(line)

/** Of several forms of one line the best: as it was sealed, with all erased that was erased in one of them, and else with most of it. */
export function isBetter(line: Line, there: Line): boolean {
  const rank = (l: Line) => (isStandIn(l) ? 0 : isErasedIn(l) ? 3 : l.partial ? 1 : 2)
  return line.hash === there.hash && rank(line) > rank(there)
}

/** The line with some of it taken out; the same line where there is nothing of that. Its hash stays. */
export function redacted(line: Line, what: Redaction): Line {
  if (line.raw.v === 1) return withoutFirst(line, what)
  const raw = redactedRaw(line.raw, line.hash, what)
  return raw === line.raw ? line : lineOf(raw, line.hash)
}

function redactedRaw(raw: RawLine, hash: string, what: Redaction): RawLine {
  if (raw.o) {
    const before = raw.o.v === 1 ? parseFirst(raw.o, true) : lineOf(raw.o, hashOf(raw.o))
    const after = redacted(before, what)
    return after === before ? raw : { ...raw, o: after.raw }
  }
  let changed = false
  const change = <T>(value: T): T => {
    changed = true
    return value
  }
  let ctr = raw.c
  const runs = raw.e.map((run): RawRun => {
    if (isHidden(run)) {
      ctr += run[0]
      return run
    }
    const id = run[0]
    if (what.hides?.(entityIn(id))) {
      const hidden = runDigest(run)
      ctr += hidden[0]
      return change(hidden)
    }
    const whole = !ERASED_ID.test(id) && what.erases?.(id) === true
    const rest = run.slice(1).map((e): RawEvent | string => {
      if (typeof e === 'string') return e
      const own = ctr++
      if (!(whole || ERASED_ID.test(id) || what.write?.(own))) return e
      return e.d !== undefined || contentDigest(e) === 0 ? e : change(emptied(e))
    })
    return whole ? change([erasedId(id), ...rest]) : ([id, ...rest] as OpenRun)
  })
  const marks = raw.x?.map((mark) => {
    if (typeof mark === 'string' || ERASED_ID.test(mark.e)) return mark
    if (mark.e !== '' && what.hides?.(mark.e)) return change(markDigest(mark))
    return mark.e !== '' && !isTombstone(mark.e) && what.erases?.(mark.e)
      ? change({ ...mark, e: erasedId(mark.e) })
      : mark
  })
  const next: RawLine = { ...raw, e: runs, ...(marks ? { x: marks } : {}) }
  if (what.header && typeof raw.by === 'object') next.by = change(partDigest(raw.by))
  // what a batch was for may speak of what is not told
  if ((what.header || changed) && typeof raw.for === 'object') next.for = change(partDigest(raw.for))
  if (!changed) return raw
  if (raw.sub === undefined) return next
  const { h: _h, sub: _sub, ...said } = next
  return { ...said, sub: hashOf(said), h: hash }
}

function emptied(e: RawEvent): RawEvent {
  const { v: _v, t: _t, ...rest } = e
  return { ...rest, d: contentDigest(e) as string }
}

/** Two forms of one line, of which each may tell what the other does not; the second where the first tells no more. */
export function merged(more: Line, there: Line): Line {
  if (!there.partial || more.raw.v !== there.raw.v) return there
  if (more.raw.v === 1 || there.raw.v === 1) return more.partial ? there : more
  const [now, old] = [originalIn(more), originalIn(there)]
  if (now && old) return merged(now, old) === old ? there : standingFor(there, merged(now, old))
  const [a, b] = [more.raw, there.raw]
  if (a.sub !== undefined) return there
  const open = <T>(one: T, other: T): T => (typeof other === 'string' && typeof one !== 'string' ? one : other)
  const runs = b.e.map((run, i): RawRun => {
    const other = a.e[i]!
    if (isHidden(run)) return other
    if (isHidden(other)) return run
    const id = ERASED_ID.test(run[0]) ? other[0] : run[0]
    return [id, ...run.slice(1).map((e, k) => (typeof e === 'object' && e.d !== undefined ? other[k + 1]! : e))]
  })
  const raw: RawLine = {
    ...(b.sub === undefined ? b : a),
    by: open(a.by, b.by),
    ...(b.for === undefined ? {} : { for: open(a.for!, b.for) }),
    ...(b.sub === undefined ? { e: runs } : {}),
    ...(b.x && b.sub === undefined ? { x: b.x.map((mark, i) => (typeof mark === 'string' ? a.x![i]! : mark)) } : {}),
  }
  return JSON.stringify(raw) === JSON.stringify(b) ? there : lineOf(raw, there.hash)
}

/** Where a line of a forked identity stands: the name of its branch, its number there, and the first writes of it and of those above. */
export interface Place extends Pick<Line, 'replica' | 'seq' | 'prev' | 'local'> {
  readonly path: readonly (readonly [first: number, tag: string])[]
}

/** The names under which a branch writes, its own first, each with the counter of its first write. */
export const pathOf = ({ ctr, replica, raw }: Line): Place['path'] => [[ctr, replica], ...((raw as RawLine).b ?? [])]

/** A line of a forked identity under its branch, the same for every holder (K12). */
export function branchLine(original: Line, { replica, seq, prev, local, path }: Place, key?: string): Line {
  const { h: _h, ...kept } = original.raw as RawLine
  const [own, ...above] = path as [number, string][]
  const raw: RawLine = {
    ...{ v: 2, r: replica, n: seq },
    ...(prev === '' ? {} : { p: shortHash(prev) }),
    ...{ c: own![0], at: original.at, by: {}, e: [] },
    ...(original.forks.length > 0 ? { k: (original.raw as RawLine).k! } : {}),
    ...(local ? { f: 1, l: 1 } : {}),
    o: original.raw.v === 1 ? original.raw : { ...kept, h: original.hash, ...(key === undefined ? {} : { key }) },
    ...(above.length > 0 ? { b: above } : {}),
  }
  return lineOf(raw, hashOf(raw))
}

/** A line of a branch with another form of the line that it stands for. */
export const standingFor = (branch: Line, original: Line): Line => {
  const { h: _h, ...kept } = original.raw as RawLine
  const o = original.raw.v === 1 ? original.raw : { ...kept, h: original.hash }
  return lineOf({ ...(branch.raw as RawLine), o }, branch.hash)
}

/** The line that one of a branch stands for, as its replica wrote it. */
export const originalIn = ({ raw }: Line): Line | undefined => (raw.v === 2 && raw.o ? originalOf(raw) : undefined)

function originalOf(raw: RawLine): Line {
  const o = raw.o!
  return o.v === 1 ? parseFirst(o, true) : lineOf(o, o.h!)
}

function isOriginal({ o, at }: RawLine, own: boolean): boolean {
  if (o!.v === 1) return parseFirst(o as RawFirst).at === at
  return isLine(o) && o.o === undefined && o.h !== undefined && checkedLine(o, own).at === at
}

const underBranches = (e: Event, lost: string, raw: RawLine): Event =>
  [[raw.c, raw.r] as const, ...(raw.b ?? [])].reduce((e, [first, tag]) => underBranch(e, lost, first, tag), e)

/** An event as its branch says it: counters stay, and what refers to the branch's own writes names the branch. */
function underBranch(e: Event, lost: string, first: number, tag: string): Event {
  const moved = renamed(e, lost, tag, [[first, Number.MAX_SAFE_INTEGER]])
  const { seen } = (e.field === STATE && isObject(e.value) ? e.value : {}) as { seen?: Seen }
  if ((seen?.[lost] ?? -1) < first) return moved
  return { ...moved, value: { ...(e.value as object), seen: { ...seen, [lost]: first - 1, [tag]: seen![lost]! } } }
}
