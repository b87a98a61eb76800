import { canonical } from '../../model/canonical.ts'
import { sha256 } from '../../model/digest.ts'
import type { Json } from '../../model/field.ts'
import { isObject } from '../../model/object.ts'
import type { Event } from '../log/events.ts'
import {
  type Author, damaged, hasAll, isCount, isEntity, isEvent, isPurge, isText, type Line, listOf, MOST_MS, orNone,
  type RawFirst, type Redaction, tombstoneOf, unpackEvent, unpackMark,
} from './line-parts.ts' // biome-ignore format: a list

const hashOf = (said: object): string => sha256(canonical(said as Json))

const isFirst = (raw: RawFirst): boolean =>
  hasAll(raw, {
    r: isText,
    n: (n) => isCount(n) && n >= 1,
    f: orNone((f) => isCount(f) && f >= 1 && f < raw.n),
    p: isText,
    h: isText,
    sum: isText,
    at: (at) => isCount(at) && at <= MOST_MS,
    by: (v) => isObject(v) && Object.entries(v).every(([key, w]) => (key === 'undoes' ? listOf(isText) : isText)(w)),
    u: (v) => isObject(v) && Object.entries(v).every(([id, update]) => isEntity(id) && isText(update)),
    e: listOf((e) => isEvent(e) && isEntity((e as { e?: unknown }).e)),
    x: orNone(listOf(isPurge)),
    k: orNone(listOf((k) => Array.isArray(k) && isText(k[0]) && isCount(k[1]))),
  })

/** Reads a line of 0.1.0. `known`: it was checked when it came in. */
export function parseFirst(raw: RawFirst, known = false): Line {
  if (!known && !isFirst(raw)) throw damaged('it holds something of another type than it says')
  const { h, sub, ...rest } = raw
  const { key, sig, ...by } = raw.by as { [key: string]: string }
  const signature =
    sig === undefined
      ? {}
      : { signature: { key, sig, text: () => canonical({ ...rest, by: { ...by, key }, h } as unknown as Json) } }
  if (!known && sub !== undefined && sig !== undefined && hashOf({ ...rest, by }) === h)
    return { ...lineOf({ ...rest, by, h }), ...signature }
  if (!known && hashOf(rest) !== (sub ?? h)) throw damaged(`the hash of ${raw.r}:${raw.n} does not fit its content`)
  return { ...lineOf(raw), ...signature }
}

function lineOf(given: RawFirst): Line {
  const { v, r, n, ...rest } = given
  const raw: RawFirst = { v, r, n, ...rest } // so a store's text begins
  const { key: _key, sig: _sig, ...author } = raw.by
  let events: readonly Event[] | undefined
  return {
    v: 1,
    replica: r,
    seq: n,
    from: raw.f ?? n,
    prev: raw.p,
    hash: raw.h,
    at: raw.at,
    author: author as Author,
    get events() {
      return (events ??= raw.e.map((e) => unpackEvent(e, e.e, { ms: raw.at, replica: r, ctr: e.c! })))
    },
    purges: (raw.x ?? []).map(unpackMark),
    forks: (raw.k ?? []).map(([replica, from]) => ({ replica, from })),
    local: false,
    partial: raw.sub !== undefined,
    ctr: raw.e[0]?.c ?? 0,
    raw,
  }
}

/** A line of 0.1.0 with some of it taken out stands in for the whole under its hash, which it has in name alone. */
export function withoutFirst(line: Line, what: Redaction): Line {
  const raw = line.raw as RawFirst
  const erased = (id: string) => what.erases?.(id) === true
  const touched = new Set<string>()
  const said = raw.e.filter((e) => !what.hides?.(e.e))
  const events = said.map((e) => {
    const entity = erased(e.e) ? tombstoneOf(e.e) : e.e
    if (entity !== e.e || what.write?.(e.c!)) {
      const { f, o, c, l, p, x } = e
      const kept = {
        f,
        o,
        c,
        ...(l ? { l } : {}),
        ...(p === undefined ? {} : { p }),
        ...(x ? { x } : {}),
        z: 1 as const,
      }
      const now = { e: entity, ...kept } as RawFirst['e'][number]
      if (canonical(now as unknown as Json) === canonical(e as unknown as Json)) return e
      touched.add(e.e)
      return now
    }
    if (e.w === undefined || !what.was?.(e.c!)) return e
    const { w: _w, ...rest } = e
    touched.add(e.e)
    return rest
  })
  const marks = raw.x
    ?.filter((p) => p.e === '' || !what.hides?.(p.e))
    .map((p) => (p.e !== '' && erased(p.e) ? { ...p, e: tombstoneOf(p.e) } : p))
  const hides = said.length < raw.e.length || (marks?.length ?? 0) < (raw.x?.length ?? 0)
  const isMarked = marks?.some((p, i) => !hides && p !== raw.x![i]) === true
  if (touched.size === 0 && !hides && !isMarked && !what.header) return line
  const { intent: _intent, key: _key, sig: _sig, undoes, ...by } = raw.by
  const { h, sub: _sub, x: _x, ...rest } = raw
  const content = {
    ...rest,
    by: { ...(what.header ? {} : by), ...(undoes ? { undoes } : {}) } as RawFirst['by'],
    sum: hides && touched.size === 0 ? [...new Set(events.map((e) => e.e))].join(', ') : '(erased)',
    u: Object.fromEntries(Object.entries(raw.u).filter(([id]) => !what.hides?.(id) && !erased(id) && !touched.has(id))),
    e: events,
    ...(marks && marks.length > 0 ? { x: marks } : {}),
  }
  const next = lineOf({ ...content, sub: hashOf(content), h })
  return canonical(next.raw as unknown as Json) === canonical(raw as unknown as Json) ? line : next
}

/** The line as it follows another one than its store has it: those between stay on their machine. */
export function followingFirst(line: Line, prev: string, from: number): Line {
  if (from === line.seq) return line
  const { h, sub: _sub, ...rest } = line.raw as RawFirst
  const content = { ...rest, p: prev, f: from }
  return lineOf({ ...content, sub: hashOf(content), h })
}

/** The line with a signature in its header; `sign` gives that of a text. */
export function signedFirst(line: Line, key: string, sign: (text: string) => string): string {
  const { h, sub: _sub, ...rest } = line.raw as RawFirst
  const { key: _key, sig: _sig, ...by } = rest.by
  const announced = { ...rest, by: { ...by, key } }
  const sig = sign(canonical({ ...announced, h } as unknown as Json))
  const content = { ...announced, by: { ...announced.by, sig } }
  return JSON.stringify({ ...content, sub: hashOf(content), h })
}
