/**
 * What a set of lines says, read off their JSON by the rules alone (K3 to K6, K10', K15). It shares no code with src: a reviewer who
 * reads the lines could fold them like this by hand.
 */

import { createHash } from 'node:crypto'
import { hashOf } from './forger.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON from anywhere
type Raw = any
type Ref = readonly [replica: string, ctr: number]
interface Said {
  readonly entity: string
  readonly field: string
  readonly op: string
  readonly line: string
  readonly ms: number
  readonly replica: string
  readonly ctr: number
  readonly value?: unknown
  readonly path?: readonly string[]
  readonly list?: boolean
  readonly pos?: number
  readonly over: readonly Ref[]
  /** Its content was taken out: it writes nothing, and of what it took away speaks as before. */
  readonly erased?: boolean
  /** Somebody took it out. */
  readonly unsaid?: boolean
  /** Whose line it stands in: of a branch, the forked identity, and the hash of the line that it stands for. */
  readonly by: string
  readonly hash?: string
  /** It says who wrote the line. */
  readonly isAuthor?: boolean
}

export interface OracleRow {
  readonly live: boolean
  readonly created: number
  readonly updated: number
  readonly version: number
  readonly fields: { [field: string]: unknown }
  readonly conflicts: unknown[]
}

export function stable(v: unknown): string {
  if (v === null || typeof v !== 'object') return JSON.stringify(v) ?? 'none'
  if (Array.isArray(v)) return `[${v.map(stable)}]`
  const o = v as { [key: string]: unknown }
  return `{${Object.keys(o).sort().map((k) => `${JSON.stringify(k)}:${stable(o[k])}`)}}` // biome-ignore format: one row
}

const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const ERASED = /:purged-[0-9a-f]{64}$/
const IS_TOMBSTONE = /:purged-[0-9a-f]{16}$/
export const tombstone = (id: string): string =>
  ERASED.test(id) ? id.slice(0, -48) : `${id.slice(0, id.indexOf(':'))}:purged-${sha(id).slice(0, 16)}`
const SIGNED_BY = ['session', 'agent', 'user', 'branch', 'commit', 'task', 'source']

/** The events of a line, each with its stamp. Of what is hidden nothing is said. */
function eventsIn(line: Raw): Said[] {
  if (line.o) return branchEvents(line)
  const id = `${line.r}:${line.n}`
  const of = (e: Raw, entity: string, ctr: number): Said => {
    const author = line.v === 2 && e.f === '@'
    const why = Object.fromEntries(SIGNED_BY.flatMap((k) => (line.by?.[k] === undefined ? [] : [[k, line.by[k]]])))
    const created = e.f === '$' && e.v === undefined && !e.z ? { s: 'created', at: line.at } : undefined
    const unsaid = e.d !== undefined || ERASED.test(entity) || (author && typeof line.by === 'string')
    const value = e.v ?? (author ? why : created) ?? (e.v === null ? null : undefined)
    return {
      ...{ entity: ERASED.test(entity) ? tombstone(entity) : entity, field: author ? 'provenance' : e.f },
      ...{ op: author ? 'add' : (e.o ?? 'set'), line: id, ms: line.at, replica: line.r, ctr },
      ...(value === undefined ? {} : { value }),
      ...{ path: e.t, list: e.l === 1, pos: e.p, erased: e.z === 1 || unsaid, unsaid, by: line.r, isAuthor: author },
      over: (e.x ?? []).map((x: number | Ref): Ref => (typeof x === 'number' ? [line.r, x] : x)),
    }
  }
  if (line.v === 1) return line.e.map((e: Raw) => of(e, e.e, e.c))
  let ctr = line.c
  return line.e.flatMap(([entity, ...rest]: Raw[]) => {
    if (typeof entity === 'number') {
      ctr += entity
      return []
    }
    return rest.filter((e) => typeof e === 'object').map((e) => of(e, entity, ctr++))
  })
}

/** A line of a branch says what it stands for, with the writes of the branch, and of those that it follows, under their names. */
function branchEvents({ r, n, c, o, b = [] }: Raw): Said[] {
  const path: [first: number, tag: string][] = [[c, r], ...b]
  const name = (replica: string, ctr: number) =>
    (replica === o.r && path.find(([first]) => ctr >= first)?.[1]) || replica
  const hash: string = o.h ?? hashOf(o)
  return eventsIn(o).map((e): Said => {
    const state = e.field === '$' ? (e.value as Raw) : undefined
    let value = e.value
    if (state?.saw?.[o.r]) {
      const all = (state.saw[o.r] as (number | Ref)[]).flatMap((x) => (typeof x === 'number' ? [x] : range(Number(x[0]), x[1])))
      value = { ...state, saw: { ...state.saw, [o.r]: [], ...Object.groupBy(all, (x) => name(o.r, x)) } }
    }
    let upTo = state?.seen?.[o.r] ?? -1
    for (const [first, tag] of path) {
      if (upTo < first) continue
      value = { ...(value as Raw), seen: { ...(value as Raw).seen, [o.r]: first - 1, [tag]: upTo } }
      upTo = first - 1
    }
    const over = e.over.map(([replica, ctr]): Ref => [name(replica, ctr), ctr])
    return { ...e, line: `${r}:${n}`, value, replica: name(e.replica, e.ctr), over, hash }
  }) // biome-ignore format: one thought
}

const nameOf = (e: Said) => `${e.replica}:${e.ctr}`
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

const later = (a: Said, b: Said): number =>
  a.ms - b.ms || a.ctr - b.ctr || (a.replica < b.replica ? -1 : a.replica > b.replica ? 1 : 0)

const form = (e: Said) => (e.op === 'put' ? 'path' : e.op === 'add' ? (e.list ? 'list' : 'set') : 'register')
const under = (above: readonly string[] = [], path: readonly string[] = []) => above.every((k, i) => path[i] === k)
const writes = (e: Said) => !e.erased && (e.op === 'set' || e.op === 'clear' || e.op === 'add' || e.op === 'put')
const itemOf = (e: Said) => stable(e.value ?? null)
const short = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 16)

/** Which of two writes under one name counts: nobody but a forger writes two. */
const said = (e: Said) => stable([e.ms, e.op === 'clear' ? null : (e.value ?? null), e.op === 'add' && e.list ? (e.pos ?? 0) : null, form(e) === 'path' ? (e.path ?? []) : []]) // biome-ignore format: one thought
/** Where it writes: of two writes under one name at two places the order of the places counts. */
const placeOf = (e: Said) =>
  form(e) === 'register'
    ? ''
    : form(e) === 'path'
      ? `p${short(JSON.stringify(e.path ?? []))}`
      : `${e.list ? 'l' : 's'}${short(itemOf(e))}`

/**
 * Every row that these lines make. A line is its text. `also`: marks of erasure that came without their line, and who wrote them: they
 * act always. `own`: replicas whose erasures take everybody's words away here.
 */
export function rowsOf(
  texts: Iterable<string>,
  also: readonly { by: string; mark: Raw }[] = [],
  own: readonly string[] = [],
): Map<string, OracleRow> {
  const lines = [...texts].map((text) => JSON.parse(text) as Raw)
  // nobody else erases what somebody wrote (Y1): a name ends with the key of who has it, one of 0.1.0 has none
  const authors = new Map(lines.flatMap((l) => (l.o ? [[l.r, l.o.r]] : [])))
  const who = (name: string) => (name.length === 16 ? name.slice(4) : name)
  const whoseIs = (name: string) => who(authors.get(name) ?? name)
  const all = new Set(own.map(who))
  const said = lines.map((l): Raw => l.o ?? l).flatMap((l) => (l.x ?? []).map((mark: Raw) => ({ by: l.r, mark })))
  const acts = [...said, ...also].filter(
    (a) => typeof a.mark === 'object' && (all.has(whoseIs(a.by)) || whoseIs(a.by) === whoseIs(a.mark.r)),
  )
  const marks = acts.map((a) => a.mark)
  const gone = Map.groupBy(
    acts.filter(({ mark }) => mark.e.includes(':purged-')),
    ({ mark }) => (IS_TOMBSTONE.test(mark.e) ? mark.e : tombstone(mark.e)),
  )
  const isGone = (entity: string, e: Said) =>
    gone.get(entity)?.some(({ by }) => all.has(whoseIs(by)) || whoseIs(by) === whoseIs(e.by))
  const cut = new Set(marks.flatMap((m) => (m.c ?? []).map((c: number) => `${m.r}:${c}`)))
  // of two lines under one name a mark means the one with its hash
  const cutIn = new Set(marks.flatMap((m) => (m.c ?? []).map((c: number) => `${m.r}:${c} ${m.h}`)))
  const isCut = (e: Said) =>
    cut.has(nameOf(e)) || (e.hash !== undefined && ['', e.hash].some((h) => cutIn.has(`${e.by}:${e.ctr} ${h}`)))
  const deep = new Set(marks.flatMap((m) => (m.b ?? []).map(([r, c]: Ref) => `${r}:${c}`)))
  const written = lines.flatMap(eventsIn)
  for (let size = -1; size < deep.size; ) {
    size = deep.size
    for (const e of written) if (deep.has(nameOf(e))) for (const [r, c] of e.over) deep.add(`${r}:${c}`)
  }
  const heads = new Set(marks.flatMap((m) => (m.e === '' ? [`${m.r}:${m.n}`, `${m.r}:${m.n}:${m.h}`] : [])))
  const isHead = (l: Raw) => l !== undefined && heads.has(`${l.r}:${l.n}:${l.h}`)
  const nameless = new Set(lines.flatMap((l) => (isHead(l) || isHead(l.o) ? [`${l.r}:${l.n}`] : [])))
  const kept = written.flatMap((e): Said | [] => {
    if (e.field === 'provenance' && e.unsaid && (heads.has(e.line) || nameless.has(e.line)))
      return { ...e, erased: true }
    if (e.isAuthor && nameless.has(e.line)) return { ...e, erased: true }
    const entity = IS_TOMBSTONE.test(e.entity) ? e.entity : tombstone(e.entity)
    if (isGone(entity, e)) return entity === e.entity && !e.unsaid ? e : { ...e, entity, erased: true }
    if (isCut(e) || deep.has(nameOf(e)) || deep.has(`${e.by}:${e.ctr}`)) return { ...e, erased: true }
    return e.unsaid ? [] : e // who took it out is not known to have been allowed to
  })
  const rows = [...Map.groupBy(kept, (e) => e.entity)].map(([id, own]) => [id, rowOf(own)] as const)
  return new Map(rows.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function rowOf(events: readonly Said[]): OracleRow {
  const named = new Set(events.flatMap((e) => e.over.map(([r, c]) => `${e.field} ${r}:${c}`)))
  const written = events.filter((e) => writes(e) && !named.has(`${e.field} ${e.replica}:${e.ctr}`))
  const twins = Map.groupBy(written, (e) => `${e.field} ${e.replica}:${e.ctr} ${placeOf(e)}`)
  const cells = [...twins.values()].map((same) => same.reduce((a, b) => (said(b) > said(a) ? b : a)))

  const existence = cells.filter((e) => e.field === '$').sort((a, b) => later(b, a))
  const state = (e: Said) => e.value as { s: string; at: number; saw?: Raw; seen?: Raw }
  const sees = (d: Said, e: Said) => {
    const { saw, seen } = state(d)
    const listed = (saw?.[e.replica] ?? []) as (number | Ref)[]
    return (
      (seen?.[e.replica] ?? -1) >= e.ctr ||
      listed.some((x) => (typeof x === 'number' ? x === e.ctr : Number(x[0]) <= e.ctr && e.ctr <= x[1]))
    )
  }
  const deletes = existence.filter((e) => state(e).s === 'deleted')
  const restored = existence.find((e) => state(e).s === 'restored')
  const escaped = (e: Said) => !deletes.some((d) => sees(d, e))
  let [live, disputed, visible] = [cells.length > 0, false, (_: Said) => true]
  if (deletes.length > 0) {
    if (restored && later(restored, deletes[0]!) > 0) disputed = true
    else if (existence.some((e) => state(e).s === 'created')) [disputed, visible] = [true, escaped]
    else [live, disputed] = [false, restored !== undefined || cells.some((e) => e.field !== '$' && escaped(e))]
  }
  const conflicts: unknown[] = disputed
    ? [{ field: '$', values: existence.map((e) => ({ value: state(e).s, at: e.ms, replica: e.replica })) }]
    : []
  const fields: { [field: string]: unknown } = {}
  const byField = Map.groupBy(cells.filter((e) => e.field !== '$' && visible(e)), (e) => e.field) // biome-ignore format: one row
  for (const field of [...byField.keys()].sort()) {
    const newest = byField.get(field)!.sort((a, b) => later(b, a) || (placeOf(b) < placeOf(a) ? -1 : 1))
    const group = newest.filter((e) => form(e) === form(newest[0]!))
    if (form(group[0]!) === 'register') {
      const values = group.map((e) => ({
        ...(e.op === 'set' ? { value: e.value ?? null } : {}),
        ...{ at: e.ms, replica: e.replica },
      }))
      if (group[0]!.op === 'set') fields[field] = group[0]!.value ?? null
      if (new Set(values.map((v) => stable(v.value))).size > 1) conflicts.push({ field, values })
    } else if (form(group[0]!) === 'path') {
      const tree = treeOf(group)
      if (Object.keys(tree).length > 0) fields[field] = tree
    } else fields[field] = items(field, group)
  }
  const at = existence.length > 0 ? existence.map((e) => state(e).at) : cells.map((e) => e.ms)
  return {
    live,
    created: at.length > 0 ? Math.min(...at) : 0,
    updated: Math.max(0, ...events.map((e) => e.ms)),
    version: new Set(events.map((e) => e.line)).size,
    fields,
    conflicts,
  }
}

function items(field: string, newest: readonly Said[]): unknown[] {
  const order = [...newest].reverse()
  if (newest[0]!.list && field !== 'provenance') order.sort((a, b) => (a.pos ?? 0) - (b.pos ?? 0) || later(a, b))
  const first = [...Map.groupBy(order, itemOf).values()].map((same) => same[0]!)
  if (field === 'provenance')
    return first.map((e) => ({ at: new Date(e.ms).toISOString(), ...((e.value ?? null) as object) }))
  const values = first.map((e) => e.value ?? null)
  return newest[0]!.list ? values : values.sort((a, b) => (stable(a) < stable(b) ? -1 : 1))
}

function treeOf(newest: readonly Said[]): Raw {
  const shown: Said[] = []
  for (const e of newest)
    if ((e.path ?? []).length > 0 && !shown.some((s) => under(s.path, e.path) || under(e.path, s.path))) shown.push(e)
  const root: Raw = Object.create(null)
  for (const { path = [], value } of shown) {
    let node = root
    for (const key of path.slice(0, -1)) node = node[key] ??= Object.create(null)
    node[path.at(-1)!] = value ?? null
  }
  return root
}
