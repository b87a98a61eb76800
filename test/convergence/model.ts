/**
 * What the knowledge should say, by the rules alone: a list of writes, each with the writes its author knew of. It
 * shares no code with src/engine/log: no cells, no documents, no lists of overwritten stamps.
 */

export type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

export type Intent =
  | { entity: string; field: string; op: 'set'; value: Value }
  | { entity: string; field: string; op: 'clear' }
  | { entity: string; field: string; op: 'add'; value: Value; list: boolean; fresh?: boolean }
  | { entity: string; field: string; op: 'remove'; value: Value }
  | { entity: string; field: string; op: 'put'; path: string[]; value: Value }
  | { entity: string; field: string; op: 'drop'; path: string[] }
  | { entity: string; field: string; op: 'wipe' }
  | { entity: string; field: '$'; op: 'created' | 'deleted' | 'restored' }

/** Which lines of each replica somebody has, in ranges: there may be gaps. */
export type Known = ReadonlyMap<string, readonly (readonly [from: number, to: number])[]>

const hasLine = (known: Known, replica: string, seq: number) =>
  known.get(replica)?.some(([from, to]) => from <= seq && seq <= to) === true

interface Stamp {
  ms: number
  ctr: number
  replica: string
}

export type Write = Intent & {
  stamp: Stamp
  /** The line it stands in, its place there, and the lines its author had. */
  seq: number
  i: number
  known: Known
  /** What stood of the entity where it was made. */
  stood: ReadonlySet<Write>
  /** Place in a list; when the entity came to be. Both from what the author saw. */
  pos?: number
  at?: number
}

const RETRY_MS = 60_000

const same = (a: Value | undefined, b: Value | undefined) => stable(a) === stable(b)

export function stable(v: Value | undefined): string {
  if (v === undefined) return ''
  if (v === null || typeof v !== 'object') return JSON.stringify(v)
  if (Array.isArray(v)) return `[${v.map(stable)}]`
  return `{${Object.keys(v)
    .sort()
    .map((k) => `${JSON.stringify(k)}:${stable(v[k])}`)}}`
}

const later = (a: Stamp, b: Stamp): boolean =>
  a.ms !== b.ms ? a.ms > b.ms : a.ctr !== b.ctr ? a.ctr > b.ctr : a.replica > b.replica

const under = (above: readonly string[], path: readonly string[]) => above.every((k, i) => path[i] === k)

/** Whether the author of `a` knew of `b`. */
function knew(a: Write, b: Write): boolean {
  if (a.stamp.replica === b.stamp.replica && a.seq === b.seq) return b.i < a.i
  return hasLine(a.known, b.stamp.replica, b.seq)
}

/** Whether `a`, made where `b` stood, takes `b`'s place. What had been replaced before, it says nothing of. */
function replaces(a: Write, b: Write): boolean {
  if (a.field !== b.field || !a.stood.has(b)) return false
  switch (a.op) {
    case 'set':
    case 'clear':
    case 'wipe':
    case 'created':
    case 'deleted':
    case 'restored':
      return true
    case 'add':
    case 'remove':
      return b.op === 'add' && same(a.value, b.value)
    case 'put':
      return b.op === 'put' && (under(a.path, b.path) || under(b.path, a.path))
    case 'drop':
      return b.op === 'put' && under(a.path, b.path)
  }
}

const leavesSomething = (w: Write) => w.op !== 'remove' && w.op !== 'drop' && w.op !== 'wipe'

export interface Seen {
  exists: boolean
  live: boolean
  created: number
  updated: number
  fields: { [field: string]: Value }
  conflicts: Value[]
  /** Writes that stand, also those that a delete hides. */
  standing: Write[]
  visible(w: Write): boolean
}

/** The entity as these writes say it is. */
export function fold(writes: readonly Write[]): Seen {
  const standing = writes.filter((w) => leavesSomething(w) && !writes.some((o) => o !== w && replaces(o, w)))
  const existence = standing.filter((w) => w.field === '$').sort((a, b) => (later(a.stamp, b.stamp) ? -1 : 1))
  const deletes = existence.filter((w) => w.op === 'deleted')
  const restored = existence.find((w) => w.op === 'restored')
  const revived = existence.some((w) => w.op === 'created')
  const escaped = (w: Write) => !deletes.some((d) => knew(d, w))
  const conflicts: Value[] = []
  let live = standing.length > 0
  let visible = (_: Write) => true
  if (deletes.length > 0) {
    let disputed: boolean
    if (restored && later(restored.stamp, deletes[0]!.stamp)) disputed = true
    else if (revived) {
      disputed = true
      visible = escaped
    } else {
      live = false
      disputed = restored !== undefined || standing.some((w) => w.field !== '$' && escaped(w))
    }
    if (disputed)
      conflicts.push({
        field: '$',
        values: existence.map((w) => ({ value: w.op, at: w.stamp.ms, replica: w.stamp.replica })),
      })
  }
  const fields: { [field: string]: Value } = {}
  for (const field of [...new Set(standing.map((w) => w.field))].sort()) {
    if (field === '$') continue
    const group = standing.filter((w) => w.field === field && visible(w))
    if (group.length === 0) continue
    const newest = [...group].sort((a, b) => (later(a.stamp, b.stamp) ? -1 : 1))
    const first = newest[0]!
    if (first.op === 'set' || first.op === 'clear') {
      if (first.op === 'set') fields[field] = first.value
      const values = newest.map((w) => (w.op === 'set' ? w.value : undefined))
      if (new Set(values.map(stable)).size > 1)
        conflicts.push({
          field,
          values: newest.map((w) => ({
            ...(w.op === 'set' ? { value: w.value } : {}),
            at: w.stamp.ms,
            replica: w.stamp.replica,
          })),
        })
    } else if (first.op === 'add') fields[field] = items(newest as (Write & { op: 'add' })[], field)
    else if (first.op === 'put') {
      const tree = leaves(newest as (Write & { op: 'put' })[])
      if (Object.keys(tree).length > 0) fields[field] = tree
    }
  }
  return {
    exists: writes.length > 0,
    live,
    created: Math.min(...(existence.length > 0 ? existence.map((w) => w.at!) : standing.map((w) => w.stamp.ms))),
    updated: Math.max(0, ...writes.map((w) => w.stamp.ms)),
    fields,
    conflicts,
    standing,
    visible,
  }
}

function items(adds: readonly (Write & { op: 'add' })[], field: string): Value[] {
  const oldestFirst = [...adds].reverse()
  const order = adds[0]!.list
    ? oldestFirst.sort((a, b) => a.pos! - b.pos! || (later(a.stamp, b.stamp) ? 1 : -1))
    : oldestFirst
  const found = new Map<string, Write & { op: 'add' }>()
  for (const a of order) if (!found.has(stable(a.value))) found.set(stable(a.value), a)
  if (field === 'provenance')
    return [...found.values()].map((a) => ({ at: new Date(a.stamp.ms).toISOString(), ...(a.value as object) }))
  const values = [...found.values()].map((a) => a.value)
  return adds[0]!.list ? values : values.sort((a, b) => (stable(a) < stable(b) ? -1 : 1))
}

function leaves(newestFirst: readonly (Write & { op: 'put' })[]): { [key: string]: Value } {
  const shown: (Write & { op: 'put' })[] = []
  for (const w of newestFirst) if (!shown.some((s) => under(s.path, w.path) || under(w.path, s.path))) shown.push(w)
  const root: { [key: string]: Value } = {}
  for (const w of shown) {
    let node = root
    for (const k of w.path.slice(0, -1)) node = (node[k] ??= {}) as { [key: string]: Value }
    node[w.path.at(-1)!] = w.value
  }
  return root
}

/** `ctr`: the counter of its first write. */
interface Batch {
  readonly replica: string
  readonly seq: number
  readonly ms: number
  readonly ctr: number
  readonly known: Known
}

/** One batch being understood: what its author knew, and what its earlier actions have added. */
export class Author {
  readonly #world: World
  readonly #line: Batch
  readonly writes: Write[] = []

  constructor(world: World, line: Batch) {
    this.#world = world
    this.#line = line
  }

  see(entity: string): Seen {
    return fold([
      ...this.#world.known(this.#line.known).filter((w) => w.entity === entity),
      ...this.writes.filter((w) => w.entity === entity),
    ])
  }

  anyDead(prefix: string): boolean {
    return this.#world.entities().some((id) => id.startsWith(prefix) && this.see(id).exists && !this.see(id).live)
  }

  #write(intent: Intent, extra: { pos?: number; at?: number } = {}): void {
    const { replica, seq, ms, ctr, known } = this.#line
    const stood = new Set(this.see(intent.entity).standing)
    this.writes.push({
      ...intent,
      ...extra,
      stamp: { ms, ctr: ctr + this.writes.length, replica },
      seq,
      i: this.writes.length,
      known,
      stood,
    } as Write)
  }

  create(entity: string): void {
    this.#write({ entity, field: '$', op: 'created' }, { at: this.#line.ms })
  }
  delete(entity: string): void {
    this.#write({ entity, field: '$', op: 'deleted' }, { at: this.see(entity).created })
  }
  restore(entity: string): void {
    this.#write({ entity, field: '$', op: 'restored' }, { at: this.see(entity).created })
  }
  wipe(entity: string): void {
    for (const field of new Set(this.see(entity).standing.map((w) => w.field)))
      if (field !== '$') this.#write({ entity, field, op: 'wipe' })
  }

  /** A write that says what stands alone already is none, unless somebody says it again: sooner than this it is a retry. */
  set(entity: string, field: string, value: Value | undefined, isSaid = false): boolean {
    const seen = this.see(entity)
    const there = seen.standing.filter((w) => w.field === field)
    if (value === undefined) {
      if (there.length === 0 || (there.length === 1 && there[0]!.op === 'clear')) return false
      this.#write({ entity, field, op: 'clear' })
      return true
    }
    const isAnew = isSaid && this.#line.ms - (there[0]?.stamp.ms ?? 0) > RETRY_MS
    if (
      there.length === 1 &&
      there[0]!.op === 'set' &&
      same(there[0]!.value, value) &&
      seen.visible(there[0]!) &&
      !isAnew
    )
      return false
    this.#write({ entity, field, op: 'set', value })
    return true
  }

  edit(
    entity: string,
    field: string,
    list: boolean,
    e: { add?: string[]; remove?: string[]; set?: string[] },
  ): boolean {
    const adds = [...new Set([...(e.set ?? []), ...(e.add ?? [])])]
    if (e.set && stable(adds) === stable(this.see(entity).fields[field] ?? [])) return false
    const there = (item?: Value) =>
      this.see(entity).standing.flatMap((w) =>
        w.field === field && w.op === 'add' && (item === undefined || same(w.value, item)) ? [w] : [],
      )
    let changed = false
    const gone = new Set([
      ...(e.set ? there().flatMap((w) => (adds.includes(w.value as string) ? [] : [w.value as string])) : []),
    ])
    for (const value of [...gone, ...(e.remove ?? [])]) {
      if (there(value).length === 0) continue
      this.#write({ entity, field, op: 'remove', value })
      changed = true
    }
    for (const value of adds) {
      const places = there(value).map((w) => w.pos!)
      const pos = !e.set && places.length > 0 ? Math.min(...places) : Math.max(-1, ...there().map((w) => w.pos!)) + 1
      this.#write({ entity, field, op: 'add', value, list }, { pos })
      changed = true
    }
    return changed
  }

  merge(entity: string, field: string, value: { [key: string]: Value } | null): boolean {
    let changed = false
    const puts: [string[], Value][] = []
    const drops: string[][] = value === null ? [[]] : []
    const walk = (v: { [key: string]: Value }, path: string[]) => {
      for (const [k, inner] of Object.entries(v)) {
        if (inner === null) drops.push([...path, k])
        else if (typeof inner === 'object' && !Array.isArray(inner) && Object.keys(inner).length > 0)
          walk(inner, [...path, k])
        else puts.push([[...path, k], inner])
      }
    }
    if (value !== null) walk(value, [])
    for (const path of drops) {
      const there = this.see(entity).standing.filter((w) => w.field === field && w.op === 'put' && under(path, w.path))
      if (there.length === 0) continue
      this.#write({ entity, field, op: 'drop', path })
      changed = true
    }
    for (const [path, v] of puts) {
      const seen = this.see(entity)
      const there = seen.standing.filter(
        (w) => w.field === field && w.op === 'put' && (under(path, w.path) || under(w.path, path)),
      )
      const only = there.length === 1 ? (there[0] as Write & { op: 'put' }) : undefined
      if (only && only.path.length === path.length && same(only.value, v) && seen.visible(only)) continue
      this.#write({ entity, field, op: 'put', path, value: v })
      changed = true
    }
    return changed
  }

  sign(entity: string, who: { [key: string]: Value }, isChange = false): void {
    const seen = this.see(entity)
    const signed = seen.standing.some(
      (w) => w.field === 'provenance' && w.op === 'add' && same(w.value, who) && seen.visible(w),
    )
    if (!signed) this.#write({ entity, field: 'provenance', op: 'add', value: who, list: false })
    if (!signed || !isChange) return
    const words = (seen.fields.provenance as { [key: string]: Value }[]).filter((p) => p.ends === undefined)
    const { at: _at, again: _again, ...last } = words.at(-1) ?? {}
    if (!same(last, who))
      this.#write({ entity, field: 'provenance', op: 'add', value: { ...who, again: true }, list: false })
  }

  /** Live links that say what took the place of an entity. */
  replacing(entity: string): (Seen & { id: string })[] {
    return this.#world
      .entities()
      .filter((id) => id.startsWith('relationship:'))
      .map((id) => ({ id, ...this.see(id) }))
      .filter((l) => l.live && l.fields.type === 'supersedes' && l.fields.to === entity)
  }

  /** Without a supersession it is what it was when it became superseded, if that is known here. */
  unsupersede(entity: string): void {
    const seen = this.see(entity)
    const latest = (writes: readonly Write[]) =>
      writes.filter((w) => w.field === 'status').sort((a, b) => (later(a.stamp, b.stamp) ? -1 : 1))[0]
    if (this.replacing(entity).length > 0) this.set(entity, 'status', 'superseded')
    else if (seen.fields.status === 'superseded') {
      const known = [...this.#world.known(this.#line.known), ...this.writes]
      const { stood } = latest(seen.standing)!
      const before = latest(known.filter((w) => stood.has(w)))
      this.set(entity, 'status', before?.op === 'set' ? before.value : undefined)
    }
  }

  /** Takes a write as it was made, where the rules do not say which ones are (undo). */
  take(intent: Intent, extra: { pos?: number; at?: number }): void {
    this.#write(intent, extra)
  }
}

/** All writes of all replicas. */
export class World {
  readonly writes: Write[] = []

  known(known: Known): Write[] {
    return this.writes.filter((w) => hasLine(known, w.stamp.replica, w.seq))
  }

  entities(): string[] {
    return [...new Set(this.writes.map((w) => w.entity))].sort()
  }

  see(entity: string): Seen {
    return fold(this.writes.filter((w) => w.entity === entity))
  }
}
