import { ClaimPlan } from '../claims/lease.ts'
import {
  type Cell,
  type Cells,
  listPart,
  pathPart,
  STATE,
  type StampRef,
  type StateValue,
  seen,
  seenAt,
  setPart,
} from '../log/cells.ts'
import { foldOf } from '../log/context-value.ts'
import { applyToCells, type Event } from '../log/events.ts'
import { type Folded, visibility } from '../log/fold.ts'
import { canonical } from '../model/canonical.ts'
import {
  cleanPath,
  displayName,
  type Entity,
  KIND_KIND,
  kindOf,
  LINK_KIND,
  nameKey,
  RELATION_KIND,
} from '../model/entity.ts'
import type { Json } from '../model/field.ts'
import { nearest, slug } from '../model/names.ts'
import type { Registry } from '../model/registry.ts'
import { type Change, shown } from '../model/validate.ts'
import { isWork } from '../model/work-kinds.ts'
import { candidates, type Lookup } from '../read/references.ts'
import { placeOn } from '../read/work-tree.ts'
import type { PurgeMark } from '../store/line.ts'
import type { PlanContext, Planning, View } from './plan-types.ts'

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

const refs = (cells: readonly Cell[]): StampRef[] => cells.map((c) => [c.stamp.replica, c.stamp.ctr] as const)

/** Starts a plan over a view. Nothing is written until the plan is applied. */
export function startPlan(
  view: View,
  ctx: PlanContext,
  makeRegistry: (base: Registry, planned: readonly Entity[]) => Registry,
  verbs: ReadonlySet<string>,
): Planning & { notes: string[] } {
  const overlay = new Map<string, { cells: Cells; folded?: Folded }>()
  const events: Event[] = []
  const notes: string[] = []
  const purges: PurgeMark[] = []
  const moves = new Map<string, string>()
  const undone: string[] = []
  let scrubbing = false
  /** Of the id that was made last. */
  let chance: number | undefined
  const promised = new Set<string>()
  let ctr = ctx.ctr
  let registry: Registry | undefined
  let work: readonly string[] | undefined

  const cells = (id: string): Cells => {
    let o = overlay.get(id)
    if (!o) overlay.set(id, (o = { cells: view.cells(id) }))
    return o.cells
  }
  const folded = (id: string): Folded => {
    cells(id)
    const o = overlay.get(id)!
    o.folded ??= foldOf(id, o.cells)
    return o.folded
  }
  const touched = new Set<string>()

  const emit = (e: Omit<Event, 'stamp'>) => {
    const event: Event = { ...e, stamp: { ms: ctx.ms, ctr: ++ctr, replica: ctx.replica } }
    applyToCells(cells(e.entity), event)
    overlay.get(e.entity)!.folded = undefined
    touched.add(e.entity)
    if (declares(kindOf(e.entity))) registry = undefined
    events.push(event)
  }

  const entity = (id: string): Entity | undefined => {
    if (!touched.has(id)) return view.entity(id)
    const f = folded(id)
    const before = view.entity(id)
    const kind = kindOf(id)
    return {
      id,
      kind,
      name: displayName((declares(kind) ? view : planning).registry().kind(kind), f.fields),
      fields: f.fields,
      live: f.live,
      created: f.created,
      updated: ctx.ms,
      version: (before?.version ?? 0) + 1,
      conflicts: f.conflicts,
    }
  }

  /** Whether a cell says this already; one that a delete hides says nothing. */
  const stands = (id: string, cell: Cell, value: Json): boolean =>
    cell.value !== undefined && canonical(cell.value) === canonical(value) && visibility(cells(id))(cell)

  const set = (id: string, field: string, value: Json | undefined): boolean => {
    const before = seen(cells(id), field)
    const winner = folded(id).fields[field]
    if (before.length === 0 && value === undefined) return false
    if (before.length === 1 && (value === undefined ? before[0]!.value === undefined : stands(id, before[0]!, value))) {
      return false // an unchanged value is never written again (K14)
    }
    emit({
      entity: id,
      field,
      op: value === undefined ? 'clear' : 'set',
      ...(value !== undefined ? { value } : {}),
      ...(winner !== undefined ? { was: winner } : {}),
      over: refs(before),
    })
    return true
  }

  const edit = (id: string, c: Extract<Change, { op: 'edit' }>): boolean => {
    const partOf = c.list ? listPart : setPart
    const current = ((folded(id).fields[c.field] ?? []) as Json[]).map((v) => canonical(v))
    if (c.replace && canonical(c.add) === `[${current.join(',')}]`) return false
    let changed = false
    const take = (item: Json) => {
      const there = seen(cells(id), c.field, partOf(item))
      if (there.length === 0) return
      emit({
        entity: id,
        field: c.field,
        op: 'remove',
        value: item,
        ...(c.list ? { list: true } : {}),
        over: refs(there),
      })
      changed = true
    }
    if (c.replace) {
      const items = new Map(seen(cells(id), c.field).map((x) => [x.part, x.value ?? null]))
      for (const item of items.values()) if (!c.add.includes(item as string)) take(item)
    }
    for (const item of c.remove) take(item)
    for (const item of c.add) {
      const there = seen(cells(id), c.field, partOf(item))
      const positions = seen(cells(id), c.field).map((x) => x.pos ?? 0)
      const kept = !c.replace && there.length > 0 ? Math.min(...there.map((x) => x.pos ?? 0)) : undefined
      const pos = kept ?? Math.max(-1, ...positions) + 1
      // an item that is there is written again, so that a removal that has not seen this addition cannot undo it (K1)
      emit({
        entity: id,
        field: c.field,
        op: 'add',
        value: item,
        ...(c.list ? { list: true, pos } : {}),
        over: refs(there),
      })
      changed = true
    }
    return changed
  }

  const merge = (id: string, c: Extract<Change, { op: 'merge' }>): boolean => {
    let changed = false
    for (const path of c.drop) {
      const there = seenAt(cells(id), c.field, path, false)
      if (there.length === 0) continue
      emit({ entity: id, field: c.field, op: 'drop', path, over: refs(there) })
      changed = true
    }
    for (const [path, value] of c.put) {
      const there = seenAt(cells(id), c.field, path, true)
      const only = there.length === 1 ? there[0]! : undefined
      if (only && only.part === pathPart(path) && stands(id, only, value)) continue
      const was = only && only.part === pathPart(path) ? only.value : undefined
      emit({
        entity: id,
        field: c.field,
        op: 'put',
        path,
        value,
        ...(was !== undefined ? { was } : {}),
        over: refs(there),
      })
      changed = true
    }
    return changed
  }

  const state = (id: string, value: StateValue) => {
    emit({ entity: id, field: STATE, op: 'set', value: value as unknown as Json, over: refs(seen(cells(id), STATE)) })
  }

  const suggest = (ref: string): string => {
    const names = view.someNames(NAMES_TO_SUGGEST_FROM)
    const near = nearest(
      ref,
      names.map((n) => n.name),
    )
    if (near.length === 0) return 'an id, kind:name, a path, or a name that is recorded'
    return `did you mean ${near.map((n) => `"${n}" (${names.find((x) => x.name === n)!.id})`).join(' or ')}?`
  }

  /**
   * Who writes, and in what: the task that is current here in the batch, else the activity, else the goal. The work tree
   * itself says where its members belong; what was current when one was started is no part of it.
   */
  const provenance = (kind: string): { [key: string]: Json } => {
    if (!ctx.ofCurrentTask) return ctx.provenance
    const { task: _before, ...rest } = ctx.provenance
    if (isWork(kind)) return rest
    const place = planning.place()
    const deepest = (['task', 'activity', 'goal'] as const).find((kind) => place[kind] !== undefined)
    return deepest === undefined ? rest : { ...rest, [deepest]: place[deepest]! }
  }

  const lookup: Lookup = {
    registry: () => planning.registry(),
    entity,
    byName: (key) => {
      const found = new Map(view.byName(key).map((e) => [e.id, entity(e.id)!]))
      for (const id of touched) {
        const e = entity(id)
        if (e && nameKey(e.name) === key) found.set(id, e)
      }
      return [...found.values()]
    },
    allIds: () => [...new Set([...view.allIds(), ...touched])],
  }

  const planning: Planning & { notes: string[] } = {
    view,
    ctx,
    verbs,
    notes,
    registry() {
      if (!registry) {
        const planned = [...touched].filter((id) => declares(kindOf(id))).map((id) => entity(id)!)
        registry = planned.length > 0 ? makeRegistry(view.registry(), planned) : view.registry()
      }
      return registry
    },
    entity,
    cells,
    resolve(ref, field, report, options = {}) {
      if (typeof ref !== 'string' || ref.trim() === '') {
        report?.({
          field,
          message: ref === undefined ? 'missing' : 'not a reference',
          received: shown(ref ?? null),
          accepted: 'an id, kind:name, a path, or a name',
        })
        return undefined
      }
      const { kind } = options
      const named = candidates(lookup, ref.trim()).filter((e) => !kind || e.kind === kind)
      // what is called so in another kind must not hide it
      const all =
        named.length > 0 || !kind ? named : candidates(lookup, `${kind}:${ref.trim()}`).filter((e) => e.kind === kind)
      const live = all.filter((e) => e.live)
      const usable = options.deleted ? all : live
      if (usable.length === 1) return usable[0]
      if (usable.length > 1) {
        report?.({
          field,
          message: `"${ref}" means several things`,
          received: ref,
          accepted: usable.map((e) => e.id).join(' or '),
          hint: 'say which with its id',
        })
      } else if (all.length > 0) {
        report?.({
          field,
          message: `"${ref}" is deleted`,
          received: ref,
          hint: `bring it back with ["restore", {"ref": "${all[0]!.id}"}]`,
        })
      } else if (![...promised].some((id) => meansPromised(id, ref.trim()))) {
        report?.({ field, message: `nothing is called "${ref}"`, received: ref, accepted: suggest(ref) })
      }
      return undefined
    },
    byName: (key) => lookup.byName(key),
    rehearse(body) {
      const stood = work
      const unclaim = planning.claims.keep()
      const before = { events: events.length, notes: notes.length, purges: purges.length, undone: undone.length, ctr }
      const were = {
        overlay: new Map([...overlay].map(([id, o]) => [id, { ...o, cells: new Map(o.cells) }])),
        touched: [...touched],
        moves: [...moves],
        promised: [...promised],
      }
      try {
        return body()
      } finally {
        events.length = before.events
        notes.length = before.notes
        purges.length = before.purges
        undone.length = before.undone
        ctr = before.ctr
        registry = undefined
        work = stood
        unclaim()
        overlay.clear()
        for (const [id, o] of were.overlay) overlay.set(id, o)
        touched.clear()
        for (const id of were.touched) touched.add(id)
        moves.clear()
        for (const [to, from] of were.moves) moves.set(to, from)
        promised.clear()
        for (const id of were.promised) promised.add(id)
      }
    },
    promise: (id) => void promised.add(id),
    isPromised: (id) => promised.has(id),
    create: (id) => state(id, { s: 'created', at: ctx.ms }),
    remove(id, reason, purged) {
      const latest: { [replica: string]: number } = {}
      for (const c of cells(id).values()) latest[c.stamp.replica] = Math.max(latest[c.stamp.replica] ?? 0, c.stamp.ctr)
      state(id, {
        s: 'deleted',
        at: folded(id).created,
        seen: latest,
        ...(reason ? { reason } : {}),
        ...(purged ? { purged: true } : {}),
      })
    },
    restore: (id) => state(id, { s: 'restored', at: folded(id).created }),
    wipe(id, purged) {
      for (const field of new Set([...cells(id).values()].map((c) => c.field))) {
        if (field === STATE) continue
        emit({
          entity: id,
          field,
          op: 'remove',
          over: refs(seen(cells(id), field)),
          ...(purged ? { purged: true } : {}),
        })
      }
    },
    wipeText(id, field, textValue) {
      const needle = JSON.stringify(textValue).slice(1, -1)
      const there = seen(cells(id), field).filter((c) =>
        JSON.stringify([c.value ?? null, c.path ?? []]).includes(needle),
      )
      if (there.length > 0) emit({ entity: id, field, op: 'remove', over: refs(there), purged: true })
    },
    apply(id, changes) {
      let changed = false
      for (const c of changes) {
        if (c.op === 'set') changed = set(id, c.field, c.value) || changed
        else if (c.op === 'clear') changed = set(id, c.field, undefined) || changed
        else if (c.op === 'edit') changed = edit(id, c) || changed
        else changed = merge(id, c) || changed
      }
      return changed
    },
    set,
    sign(id) {
      const value = provenance(kindOf(id))
      if (Object.keys(value).length === 0) return
      const signed = seen(cells(id), 'provenance', setPart(value))
      if (signed.some(visibility(cells(id)))) return
      emit({ entity: id, field: 'provenance', op: 'add', value, over: refs(signed) })
    },
    links(end, id) {
      const found = new Map(view.links(end, id).map((l) => [l.id, l]))
      for (const lid of touched) {
        if (kindOf(lid) !== LINK_KIND) continue
        const e = entity(lid)!
        const row = { id: lid, src: String(e.fields.from), rel: String(e.fields.type), dst: String(e.fields.to) }
        if (e.live && (end === 'src' ? row.src : row.dst) === id) found.set(lid, row)
        else found.delete(lid)
      }
      return [...found.values()]
    },
    ofKind(kind) {
      const found = new Map(view.ofKind(kind).map((e) => [e.id, e]))
      for (const id of touched) if (kindOf(id) === kind) found.set(id, entity(id)!)
      return [...found.values()].filter((e) => e.live)
    },
    place: () => placeOn(work ?? ctx.work ?? [], entity),
    workOn(path) {
      if (ctx.work === undefined) planning.note("no session is named, so this is nobody's current work")
      else work = path
    },
    work: () => work,
    claims: new ClaimPlan(view.claims, ctx.provenance.agent === 'file' ? 'file' : undefined),
    note: (textValue) => void (notes.includes(textValue) || notes.push(textValue)),
    purge: (p) => void purges.push(p),
    eventId(make) {
      chance = chance === undefined ? ctx.random(5).reduce((n, byte) => n * 256 + byte, 0) : chance + 1
      return make(ctx.ms, chance)
    },
    events: () => events,
    move(from, to) {
      overlay.set(to, { cells: cells(from) })
      moves.set(to, from)
    },
    purges: () => purges,
    moves: () => moves,
    undoes: (batch) => void undone.push(batch),
    undone: () => undone,
    scrub() {
      scrubbing = true
    },
    isScrubbing: () => scrubbing,
  }
  return planning
}
