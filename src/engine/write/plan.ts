import { keptIn } from '../../base/lookup.ts'
import { canonical } from '../../model/canonical.ts'
import {
  cleanPath, displayName, type Entity, KIND_KIND, kindOf, LINK_KIND, lastWord, nameKey, RELATION_KIND, restOfKey,
} from '../../model/entity.ts' // biome-ignore format: a list
import type { Json } from '../../model/field.ts'
import type { Kind } from '../../model/kind.ts'
import { didYouMean, slug } from '../../model/names.ts'
import type { Registry } from '../../model/registry.ts'
import { type Change, type Report, shown } from '../../model/validate.ts'
import { isWork } from '../../model/work-kinds.ts'
import { ClaimPlan } from '../claims/lease.ts'
import type { Cell, Cells, StateValue } from '../log/cells.ts'
import { listPart, pathPart, STATE, sawOf, seen, seenAt, setPart } from '../log/cells.ts'
import { foldOf } from '../log/context-value.ts'
import { applyToCells, type Event } from '../log/events.ts'
import { type Folded, visibility } from '../log/fold.ts'
import { candidates } from '../read/references.ts'
import { type Place, placeOn } from '../read/work-tree.ts'
import type { PurgeMark } from '../store/line.ts'
import type { LinkRow } from '../store/rows.ts'
import type { View } from './planning-view.ts'

/** Who wants a batch. Only a person's yes makes a text bind later sessions, or changes one that binds. */
export type Actor = 'person' | 'agent'

export interface PlanContext {
  by: Actor
  /** A person has just agreed to it on a terminal, or it was measured: see settled-mutations.ts. */
  settles: boolean
  replica: string
  /** The batch's one clock reading, ms, and its id. */
  ms: number
  batch: string
  /** The replica's event counter before this batch. */
  ctr: number
  /** The provenance that goes onto every entity it touches; empty says nothing. */
  provenance: { [key: string]: Json }
  /** Where in the work tree the author's session stood before this batch; nothing where no session writes. */
  work: readonly string[] | undefined
  /** Attributes writes to the current task, as the caller named none. */
  ofCurrentTask: boolean
  /** Everything the batch's header will say of who wrote it and what for. */
  author: string
  random(n: number): Uint8Array
  /** Where a person typed these words, and a digest of them; nothing where nobody did. */
  evidence?: ((quote: string) => string | undefined) | undefined
}

export interface Result {
  verb: string
  id: string
  kind?: string
  name?: string
  version?: number
  created?: boolean
  [extra: string]: Json | undefined
}

/** The arguments of an action, as they were given. */
export type Args = Readonly<Record<string, unknown>>
/** What planning an action gives; nothing where a problem was reported. */
export type Done = Omit<Result, 'verb'> | undefined

/** What a plan has collected so far; plain data, so that a dry run works on a copy. */
export interface Draft {
  events: Event[]
  notes: string[]
  purges: PurgeMark[]
  /** Documents that go on under another id: new → old. */
  moves: Map<string, string>
  undone: string[]
  /** Something was erased that stands in no batch: the files are to be written anew all the same. */
  scrub: boolean
  /** Entities about which nothing is asked any more, and which no longer stay as they were. */
  decided: string[]
  work: readonly string[] | undefined
  /** Entities whose record was refused. */
  promised: Set<string>
  /** Entities that were looked at, with their cells as the plan leaves them; and those it has written. */
  cells: Map<string, { cells: Cells; folded?: Folded | undefined }>
  touched: Set<string>
  ctr: number
}

interface Wanted {
  readonly deleted?: boolean
  readonly kind?: string
  /** The kinds that are suggested when it means nothing. */
  readonly kinds?: readonly string[] | undefined
}

/** The same call sent again within this time is a retry, and says nothing anew. */
const RETRY_MS = 60_000

/** How many names are looked through for near matches; only a refused reference pays for it. */
const NAMES_TO_SUGGEST_FROM = 20_000

/** Kinds whose entities declare kinds and relations: the registry rests on them, so they never ask it. */
const declares = (kind: string) => kind === KIND_KIND || kind === RELATION_KIND

/** Whether a reference may mean an entity whose record was refused. */
const meansPromised = (id: string, ref: string): boolean => {
  const kind = kindOf(id)
  const name = ref.startsWith(`${kind}:`) ? ref.slice(kind.length + 1) : ref
  return [name, slug(name), slug(cleanPath(name), true)].some((n) => id === `${kind}:${n}`)
}

/** The kinds and relations known with some that a batch declares. */
export type MakeRegistry = (base: Registry, planned: readonly Entity[]) => Registry

/** A plan over a view: what verbs read and write. Nothing is stored until the plan is applied. */
export class Planning {
  readonly view: View
  readonly ctx: PlanContext
  /** Names of the verbs that are not derived from kinds. */
  readonly verbs: ReadonlySet<string>
  readonly claims: ClaimPlan
  readonly #makeRegistry: MakeRegistry
  #draft: Draft
  #registry: Registry | undefined
  /** Of the id that was made last. */
  #chance: number | undefined

  constructor(view: View, ctx: PlanContext, makeRegistry: MakeRegistry, verbs: ReadonlySet<string>) {
    this.view = view
    this.ctx = ctx
    this.verbs = verbs
    this.claims = new ClaimPlan(view.claims, ctx.provenance.agent === 'file' ? 'file' : undefined)
    this.#makeRegistry = makeRegistry
    const lists = { events: [], notes: [], purges: [], undone: [], decided: [], scrub: false, work: undefined }
    const maps = { moves: new Map(), cells: new Map(), promised: new Set<string>(), touched: new Set<string>() }
    this.#draft = { ...lists, ...maps, ctr: ctx.ctr }
  }

  get draft(): Readonly<Draft> {
    return this.#draft
  }

  registry(): Registry {
    if (!this.#registry) {
      const planned = [...this.#draft.touched].filter((id) => declares(kindOf(id))).map((id) => this.entity(id)!)
      const known = this.view.registry()
      this.#registry = planned.length > 0 ? this.#makeRegistry(known, planned) : known
    }
    return this.#registry
  }

  cells(id: string): Cells {
    return keptIn(this.#draft.cells, id, () => ({ cells: this.view.cells(id) })).cells
  }

  #folded(id: string): Folded {
    const cells = this.cells(id)
    const there = this.#draft.cells.get(id)!
    there.folded ??= foldOf(id, cells)
    return there.folded
  }

  #seen = (id: string, field: string, part?: string): Cell[] => seen(this.cells(id), field, part)

  #emit(id: string, field: string, op: Event['op'], over: readonly Cell[], more: Partial<Event> = {}): true {
    const draft = this.#draft
    const stamp = { ms: this.ctx.ms, ctr: ++draft.ctr, replica: this.ctx.replica }
    const refs = over.map((c) => [c.stamp.replica, c.stamp.ctr] as const)
    const event: Event = { entity: id, field, op, ...more, over: refs, stamp }
    applyToCells(this.cells(id), event)
    draft.cells.get(id)!.folded = undefined
    draft.touched.add(id)
    if (declares(kindOf(id))) this.#registry = undefined
    draft.events.push(event)
    return true
  }

  /** The entity as it stands in the plan, deleted ones too. */
  entity(id: string): Entity | undefined {
    const before = this.view.entity(id)
    if (!this.#draft.touched.has(id)) return before
    const { fields, live, created, conflicts } = this.#folded(id)
    const kind = kindOf(id)
    return {
      id,
      kind,
      name: displayName((declares(kind) ? this.view : this).registry().kind(kind), fields),
      fields,
      live,
      created,
      updated: this.ctx.ms,
      version: (before?.version ?? 0) + 1,
      conflicts,
    }
  }

  byName(key: string): Entity[] {
    return this.#withPlanned(this.view.byName(key), (e) => nameKey(e.name) === key)
  }

  byKey(kind: Kind, values: Readonly<{ [field: string]: Json }>): Entity[] {
    const key = nameKey(String(values[kind.key[0]]))
    const rest = restOfKey(kind, values)
    const isAlike = (e: Entity) => e.kind === kind.name && restOfKey(kind, e.fields) === rest && nameKey(e.name) === key
    return this.#withPlanned(this.view.byKey(kind, key, rest), isAlike)
  }

  #withPlanned(stored: readonly Entity[], isWanted: (e: Entity) => boolean): Entity[] {
    const { touched } = this.#draft
    const found = new Map(stored.map((e) => [e.id, touched.has(e.id) ? this.entity(e.id)! : e]))
    for (const id of touched) {
      const e = this.entity(id)
      if (e && isWanted(e)) found.set(id, e)
    }
    return [...found.values()]
  }

  allIds(): string[] {
    return [...new Set([...this.view.allIds(), ...this.#draft.touched])]
  }

  ofKind(kind: string): Entity[] {
    const found = new Map(this.view.ofKind(kind).map((e) => [e.id, e]))
    for (const id of this.#draft.touched) if (kindOf(id) === kind) found.set(id, this.entity(id)!)
    return [...found.values()].filter((e) => e.live)
  }

  /** Links that say what took the place of this; whether that is alive does not matter. */
  replacing(id: string): LinkRow[] {
    return this.links('dst', id, this.view.replacing(id)).filter((l) => l.rel === 'supersedes')
  }

  links(end: 'src' | 'dst', id: string, there: readonly LinkRow[] = this.view.links(end, id)): LinkRow[] {
    const found = new Map(there.map((l) => [l.id, l]))
    for (const link of this.#draft.touched) {
      if (kindOf(link) !== LINK_KIND) continue
      const { live, fields } = this.entity(link)!
      const row = { id: link, src: String(fields.from), rel: String(fields.type), dst: String(fields.to) }
      if (live && row[end] === id) found.set(link, row)
      else found.delete(link)
    }
    return [...found.values()]
  }

  /** Finds what a reference means; nothing when it means nothing, or several things, which is reported where it matters. */
  resolve(
    given: unknown,
    field: string,
    report: Report | undefined,
    { deleted, kind, kinds = kind ? [kind] : undefined }: Wanted = {},
  ): Entity | undefined {
    const ref = typeof given === 'string' ? given.trim() : ''
    if (ref === '') {
      const message = given === undefined ? 'missing' : 'not a reference'
      report?.({ field, message, received: shown(given ?? null), accepted: 'an id, kind:name, a path, or a name' })
      return undefined
    }
    const named = candidates(this, ref).filter((e) => !kind || e.kind === kind)
    // what is called so in another kind must not hide it
    const all = named.length > 0 || !kind ? named : candidates(this, `${kind}:${ref}`).filter((e) => e.kind === kind)
    const usable = deleted ? all : all.filter((e) => e.live)
    if (usable.length === 1) return usable[0]
    const refuse = (message: string, more: { accepted?: string; hint?: string }) =>
      report?.({ field, message, received: given as string, ...more })
    if (usable.length > 1) {
      const accepted = usable.map((e) => e.id).join(' or ')
      refuse(`"${given}" means several things`, { accepted, hint: 'say which with its id' })
    } else if (all.length > 0) {
      refuse(`"${given}" is deleted`, { hint: `bring it back with ["restore", {"ref": "${all[0]!.id}"}]` })
    } else if (report && ![...this.#draft.promised].some((id) => meansPromised(id, ref))) {
      const [other] = candidates(this, ref)
      const says = other
        ? `"${other.name}" is recorded as ${other.kind}, not as ${kind}`
        : `nothing is called "${given}"`
      refuse(says, { accepted: other ? `the reference of a ${kind}` : this.#suggest(ref, kinds) })
    }
    return undefined
  }

  #suggest(ref: string, kinds: readonly string[] | undefined): string {
    const isMeant = (kind: string) => kinds?.includes(kind) ?? !this.registry().kind(kind)?.internal
    const names = this.view.someNames(NAMES_TO_SUGGEST_FROM).filter(({ id }) => isMeant(kindOf(id)))
    const otherwise = 'an id, kind:name, a path, or a name that is recorded'
    const ids = new Map(names.toReversed().map(({ name, id }) => [name, id]))
    return didYouMean(ref, ids.keys(), otherwise, (name) => `"${name}" (${ids.get(name)})`)
  }

  /** Dry run: returns the body's result and discards what it planned. */
  dryRun<T>(body: () => T): T {
    const kept = this.#draft
    const restoreClaims = this.claims.keep()
    this.#draft = structuredClone(kept)
    try {
      return body()
    } finally {
      this.#draft = kept
      this.#registry = undefined
      restoreClaims()
    }
  }

  /** Announces an entity whose record was refused, so that later references to it are not reported as well. */
  promise(id: string): void {
    this.#draft.promised.add(id)
  }

  #state(id: string, value: StateValue): void {
    this.#emit(id, STATE, 'set', this.#seen(id, STATE), { value: value as unknown as Json })
  }

  create(id: string): void {
    this.#state(id, { s: 'created', at: this.ctx.ms })
  }

  remove(id: string, reason?: string, purged?: boolean): void {
    const why = { ...(reason ? { reason } : {}), ...(purged ? { purged: true as const } : {}) }
    this.#state(id, {
      s: 'deleted',
      at: this.#folded(id).created,
      // also what others took away: where their lines wait, it is there
      saw: sawOf([
        ...this.cells(id)
          .values()
          .map((c) => c.stamp),
        ...this.view.eventsOf(id).map((e) => e.event.stamp),
      ]),
      ...why,
    })
  }

  restore(id: string): void {
    this.#state(id, { s: 'restored', at: this.#folded(id).created })
  }

  /** Clears everything the entity says, before it is recorded anew. */
  wipe(id: string, purged?: boolean): void {
    for (const field of new Set([...this.cells(id).values()].map((c) => c.field)))
      if (field !== STATE) this.#emit(id, field, 'remove', this.#seen(id, field), purged ? { purged: true } : {})
  }

  /** Erases the cells of a field that hold a text; the event says nothing of what they held. */
  wipeText(id: string, field: string, text: string): void {
    const needle = JSON.stringify(text).slice(1, -1)
    const there = this.#seen(id, field).filter((c) => JSON.stringify([c.value ?? null, c.path ?? []]).includes(needle))
    if (there.length > 0) this.#emit(id, field, 'remove', there, { purged: true })
  }

  apply(id: string, changes: readonly Change[], isSaid = false): boolean {
    let changed = false
    for (const c of changes) {
      if (c.op === 'set') changed = this.set(id, c.field, c.value, isSaid) || changed
      else if (c.op === 'clear') changed = this.set(id, c.field, undefined) || changed
      else if (c.op === 'edit') changed = this.#edit(id, c) || changed
      else changed = this.#merge(id, c) || changed
    }
    return changed
  }

  /** Whether a cell says this already; one that a delete hides says nothing. */
  #stands = (id: string, cell: Cell, value: Json): boolean =>
    cell.value !== undefined && canonical(cell.value) === canonical(value) && visibility(this.cells(id))(cell)

  /** Writes a field, or clears it. An unchanged value is written again only where it is said anew: it outweighs what others said meanwhile. */
  set(id: string, field: string, value: Json | undefined, isSaid = false): boolean {
    const before = this.#seen(id, field)
    const only = before.length === 1 ? before[0]! : undefined
    if (
      value === undefined
        ? before.length === 0 || (only && only.value === undefined)
        : only && this.#stands(id, only, value) && !(isSaid && this.ctx.ms - only.stamp.ms > RETRY_MS)
    )
      return false
    return this.#emit(id, field, value === undefined ? 'clear' : 'set', before, value === undefined ? {} : { value })
  }

  #edit(id: string, { field, list, add, remove, replace }: Extract<Change, { op: 'edit' }>): boolean {
    const partOf = list ? listPart : setPart
    const said = this.#folded(id).fields[field]
    const current = (Array.isArray(said) ? said : []).map((v) => canonical(v)) // others may have written another form
    if (replace && canonical(add) === `[${current.join(',')}]`) return false
    const items = new Map(replace ? this.#seen(id, field).map((x) => [x.part, x.value ?? null]) : [])
    const others = [...items.values()].filter((item) => !add.includes(item as string))
    let changed = false
    for (const item of [...others, ...remove]) {
      const there = this.#seen(id, field, partOf(item))
      if (there.length > 0)
        changed = this.#emit(id, field, 'remove', there, { value: item, ...(list ? { list: true } : {}) })
    }
    for (const item of add) {
      const there = this.#seen(id, field, partOf(item))
      const place = (cells: readonly Cell[]) => cells.map((x) => x.pos ?? 0)
      const kept = !replace && there.length > 0 ? Math.min(...place(there)) : undefined
      const pos = kept ?? Math.max(-1, ...place(this.#seen(id, field))) + 1
      // an item that is there is written again, so that a removal that has not seen this addition cannot undo it (K1)
      changed = this.#emit(id, field, 'add', there, { value: item, ...(list ? { list: true, pos } : {}) })
    }
    return changed
  }

  #merge(id: string, { field, drop, put }: Extract<Change, { op: 'merge' }>): boolean {
    let changed = false
    for (const path of drop) {
      const there = seenAt(this.cells(id), field, path, false)
      if (there.length > 0) changed = this.#emit(id, field, 'drop', there, { path })
    }
    for (const [path, value] of put) {
      const there = seenAt(this.cells(id), field, path, true)
      const same = there.length === 1 && there[0]!.part === pathPart(path) ? there[0]! : undefined
      if (same && this.#stands(id, same, value)) continue
      changed = this.#emit(id, field, 'put', there, { path, value })
    }
    return changed
  }

  /** The person's words that the action at hand rests on, as evidence has them. */
  said: string | undefined

  /** Says who writes; of an author whose words another one changed since, that they are theirs again. */
  sign(id: string, more: { [key: string]: Json } = {}, isChange = false): void {
    const value = { ...this.#provenance(kindOf(id)), ...(this.said === undefined ? {} : { said: this.said }), ...more }
    if (Object.keys(value).length === 0) return
    const signed = this.#seen(id, 'provenance', setPart(value))
    if (more.restores !== undefined || !signed.some(visibility(this.cells(id))))
      this.#emit(id, 'provenance', 'add', signed, { value })
    else if (isChange) {
      const { at: _at, again: _again, ...last } = lastWord(this.entity(id)!)
      if (setPart(last) === setPart(value)) return
      const again = { ...value, again: true }
      this.#emit(id, 'provenance', 'add', this.#seen(id, 'provenance', setPart(again)), { value: again })
    }
  }

  /** Who writes, and in what: the current task, activity or goal. Members of the work tree say themselves where they belong. */
  #provenance(kind: string): { [key: string]: Json } {
    if (!this.ctx.ofCurrentTask) return this.ctx.provenance
    const { task: _before, ...rest } = this.ctx.provenance
    if (isWork(kind)) return rest
    const place = this.place()
    const deepest = (['task', 'activity', 'goal'] as const).find((kind) => place[kind] !== undefined)
    return deepest === undefined ? rest : { ...rest, [deepest]: place[deepest]! }
  }

  place(): Place {
    return placeOn(this.#draft.work ?? this.ctx.work ?? [], (id) => this.entity(id))
  }

  /** The session works on this from here on: ids from the goal down. Without a session, a note says that nobody does. */
  workOn(path: readonly string[]): void {
    if (this.ctx.work === undefined) this.note("no session is named, so this is nobody's current work")
    else this.#draft.work = path
  }

  note(text: string): void {
    if (!this.#draft.notes.includes(text)) this.#draft.notes.push(text)
  }

  purge(p: PurgeMark): void {
    this.#draft.purges.push(p)
  }

  /** From here on `to` has the document of `from`, which is gone. */
  move(from: string, to: string): void {
    this.#draft.cells.set(to, { cells: this.cells(from) })
    this.#draft.moves.set(to, from)
  }

  eventId(make: (ms: number, chance: number) => string): string {
    this.#chance =
      this.#chance === undefined ? this.ctx.random(5).reduce((n, byte) => n * 256 + byte, 0) : this.#chance + 1
    return make(this.ctx.ms, this.#chance)
  }

  undoes(batch: string): void {
    this.#draft.undone.push(batch)
  }

  /** Somebody here has answered what others asked about an entity. */
  decide(id: string): void {
    this.#draft.decided.push(id)
  }

  /** Has every file written anew after the batch, although nothing in the log is erased. */
  scrub(): void {
    this.#draft.scrub = true
  }
}
