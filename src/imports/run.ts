import type { UserError } from '../errors.ts'
import { type Action, MAX_ACTIONS } from '../memory/batch.ts'
import {
  cleanPath,
  type Entity,
  identityOf,
  KIND_KIND,
  LINK_KIND,
  linkId,
  nameKey,
  RELATION_KIND,
} from '../memory/entity.ts'
import type { ActOptions, Memory } from '../memory/memory.ts'
import { screen } from '../memory/secrets.ts'
import { canonical } from '../schema/canonical.ts'
import type { Json } from '../schema/field.ts'
import type { Kind } from '../schema/kind.ts'
import { foldName } from '../schema/names.ts'
import { type Change, type Report as Complain, type Problem, validate } from '../schema/validate.ts'
import { beforeOf, difference, type Stated } from './compare.ts'
import { shorten } from './shorten.ts'
import { scrubPairs, wellFormed } from './text.ts'
import type { Item, Reading, Unplaced } from './types.ts'

type Args = { [arg: string]: Json }

export interface ImportOptions {
  /** Where the knowledge comes from, e.g. `import add .add`: kept in the provenance of every entity, known again by it. */
  readonly source: string
  /** The standing of what is new, where the source says none. */
  readonly standing?: 'proposed' | 'confirmed'
  readonly session?: string
  readonly agent?: string
  progress?(line: string): void
}

export interface Tally {
  created: number
  updated: number
  unchanged: number
}

/** What an import did. */
export interface ImportReport {
  readonly source: string
  /** How much was read, by name. */
  readonly read: Readonly<{ [what: string]: number }>
  readonly kinds: { [kind: string]: Tally }
  created: number
  updated: number
  unchanged: number
  /** Batches written; none means that nothing was. */
  readonly batches: string[]
  readonly redacted: { where: string; category: string }[]
  /** Texts of which a `<private>` part was left out. */
  privateLeftOut: number
  /** What differs from the source because somebody changed it here: it stays. */
  readonly kept: Unplaced[]
  /** What an earlier import brought and the source no longer says. */
  readonly gone: Unplaced[]
  readonly unplaced: Unplaced[]
}

/** Actions that belong together, and what to note once they are written. */
interface Unit {
  readonly item: Item
  readonly actions: Action[]
  readonly kind: string
  readonly created: boolean
  /** The id the first action writes to, where it is known. */
  readonly id?: string
}

const asList = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(String) : [])
const shown = (value: string, limit = 80) => {
  const line = value.replace(/\s+/g, ' ').trim()
  return line.length > limit ? `${line.slice(0, limit).toWellFormed()}…` : line
}

/**
 * Writes what a source says into the memory, in as many batches as it takes. Compares first: what is so already is
 * not written again, so that a second run of the same source writes nothing at all.
 */
export function runImport(memory: Memory, reading: Reading, options: ImportOptions): ImportReport {
  return new Run(memory, reading, options).run()
}

/** One import under way. */
class Run {
  readonly #memory: Memory
  readonly #reading: Reading
  readonly #options: ImportOptions
  readonly #report: ImportReport
  /** What items call an entity → its id. */
  readonly #aliases = new Map<string, string>()
  /** Names of items that are still to come. */
  readonly #announced = new Set<string>()
  readonly #stated = new Map<string, Stated>()
  readonly #locations = new Map<string, Set<string>>()
  readonly #touched = new Set<string>()
  readonly #same = new Map<string, Map<string, string>>()
  readonly #deferred: Item[] = []
  #pending: Unit[] = []
  readonly #pendingIds = new Set<string>()
  /** Kinds or relations wait to be written: what uses them has to wait for it. */
  #definesPending = false

  constructor(memory: Memory, reading: Reading, options: ImportOptions) {
    this.#memory = memory
    this.#reading = reading
    this.#options = options
    this.#report = {
      source: options.source,
      read: reading.counts,
      kinds: {},
      created: 0,
      updated: 0,
      unchanged: 0,
      batches: [],
      redacted: [...(reading.redacted ?? [])],
      privateLeftOut: 0,
      kept: [],
      gone: [],
      unplaced: [...reading.unplaced],
    }
  }

  run(): ImportReport {
    const { items } = this.#reading
    for (const item of items) {
      if (item.as !== undefined) this.#announced.add(item.as)
      this.#noteLocations(item)
    }
    let done = 0
    for (const item of items) {
      for (const part of shorten(this.#clean(item), this.#memory.registry())) this.#step(part)
      if (++done % 250 === 0) this.#options.progress?.(`${this.#options.source}: ${done} of ${items.length}`)
    }
    this.#flush()
    for (const item of this.#deferred) this.#step(item)
    this.#flush()
    if (!this.#reading.partial) this.#settleGone()
    this.#flush()
    return this.#report
  }

  #leaveOut(where: string, what: string, why: string): void {
    this.#report.unplaced.push({ where, what: shown(what), why })
  }

  #keep(where: string, what: string, why: string): void {
    this.#report.kept.push({ where, what: shown(what), why })
  }

  #tally(kind: string, what: keyof Tally): void {
    this.#report.kinds[kind] ??= { created: 0, updated: 0, unchanged: 0 }
    this.#report.kinds[kind][what]++
    this.#report[what]++
  }

  /** The item without secrets, private parts and characters that no gate lets through. */
  #clean(item: Item): Item {
    const args: Args = {}
    for (const [arg, value] of Object.entries(wellFormed(item.args as Args)))
      args[arg] =
        arg === 'attrs'
          ? scrubPairs(value, (_, category) => this.#report.redacted.push({ where: item.where, category }))
          : value
    const screened = screen(args, true)
    for (const s of screened.secrets) this.#report.redacted.push({ where: item.where, category: s.category })
    if (!screened.privateLeftOut) return { ...item, args: screened.value as Args }
    this.#report.privateLeftOut++
    return { ...item, args: withoutEmpty(screened.value as Args) }
  }

  #noteLocations(item: Item): void {
    const kind = this.#memory.registry().recordedBy(item.verb)
    const id = kind && Array.isArray(item.args.locations) ? identityOf(kind, item.args) : undefined
    if (id === undefined) return
    const all = this.#locations.get(id) ?? new Set()
    for (const l of asList(item.args.locations)) all.add(l)
    this.#locations.set(id, all)
  }

  #step(item: Item): void {
    const defining = item.verb.startsWith('define-')
    if (this.#waitsForPending(item) || (!defining && this.#definesPending)) this.#flush()
    const unit = this.#prepare(item)
    if (item.as !== undefined) this.#announced.delete(item.as)
    if (!unit) return
    if (this.#pending.reduce((n, u) => n + u.actions.length, unit.actions.length) > MAX_ACTIONS) this.#flush()
    this.#pending.push(unit)
    if (unit.id !== undefined) this.#pendingIds.add(unit.id)
    if (unit.item.as !== undefined) this.#pendingIds.add(unit.item.as)
    if (defining) this.#definesPending = true
  }

  /** Whether the item looks at something that waits to be written. */
  #waitsForPending(item: Item): boolean {
    if (this.#pendingIds.size === 0) return false
    const kind = this.#memory.registry().recordedBy(item.verb)
    const id = kind && identityOf(kind, item.args)
    if (id !== undefined && this.#pendingIds.has(id)) return true
    return Object.values(item.args).some((v) => asStrings(v).some((s) => this.#pendingIds.has(s)))
  }

  #prepare(item: Item): Unit | undefined {
    const kind = this.#memory.registry().recordedBy(item.verb)
    if (kind) return this.#record(item, kind)
    switch (item.verb) {
      case 'link-entities':
        return this.#link(item)
      case 'supersede':
        return this.#supersede(item)
      case 'define-kind':
      case 'define-relation':
        return this.#define(item)
      case 'propose':
        return this.#propose(item)
      case 'retire':
        return this.#retire(item)
    }
    this.#leaveOut(item.where, item.verb, `this project knows no ${item.verb.replace(/^record-/, 'kind ')}`)
    return undefined
  }

  /** Checked arguments; what a field does not take goes into attrs, and is told. */
  #changes(item: Item, kind: Kind, given: Args): { args: Args; changes: Change[] } | undefined {
    let args = given
    for (let attempt = 0; ; attempt++) {
      const problems: Parameters<Complain>[0][] = []
      const changes = validate(kind, args, (p) => void problems.push(p))
      const first = problems[0]
      if (!first) return { args, changes }
      const fields = new Set(problems.map((p) => p.field.split('.')[0]!))
      const hopeless = attempt > 0 || fields.has('attrs') || kind.key.some((f) => fields.has(f))
      if (hopeless || !isTree(args.attrs ?? {})) {
        this.#leaveOut(
          item.where,
          `${kind.name} ${String(args[kind.key[0]] ?? '')}`,
          `${first.field}: ${first.message}`,
        )
        return undefined
      }
      for (const p of problems)
        this.#leaveOut(
          item.where,
          `${p.field} = ${canonical(args[p.field.split('.')[0]!] ?? null)}`,
          `${p.message}${p.accepted && p.accepted.length < 120 ? ` (${p.accepted})` : ''}; kept in attrs`,
        )
      const moved = Object.entries(args).filter(([f, v]) => fields.has(f) && v !== null)
      args = {
        ...Object.fromEntries(Object.entries(args).filter(([f]) => !fields.has(f))),
        attrs: { ...(args.attrs as Args | undefined), ...Object.fromEntries(moved) },
      }
    }
  }

  #record(item: Item, kind: Kind): Unit | undefined {
    const given = this.#withAliases(item, kind)
    if (kind.name === 'file' && typeof given.path === 'string') given.path = cleanPath(given.path)
    const ref = given.ref
    delete given.ref
    const checked = this.#changes(item, kind, given)
    if (!checked) return undefined
    const values = Object.fromEntries(checked.changes.flatMap((c) => (c.op === 'set' ? [[c.field, c.value]] : [])))
    const key = kind.key[0]
    const name = String(values[key] ?? '')
    if (ref === undefined && name.trim() === '') {
      this.#leaveOut(item.where, kind.name, `nothing stands in ${key}`)
      return undefined
    }
    const target = typeof ref === 'string' ? this.#memory.reader.entity(ref) : this.#target(item, kind, values)
    if (target && !target.live) {
      this.#keep(
        item.where,
        `${kind.name} ${name}`,
        `deleted here; ["restore", {"ref": "${target.id}"}] brings it back`,
      )
      this.#touched.add(target.id)
      return undefined
    }
    return target ? this.#update(item, kind, target, checked.changes) : this.#create(item, kind, checked, values)
  }

  /** The entity an item is about, deleted ones too: by its id, by the mark of this import, by its name or content. */
  #target(item: Item, kind: Kind, values: Args): Entity | undefined {
    const { reader } = this.#memory
    const known =
      item.as === undefined ? undefined : (reader.entity(this.#aliases.get(item.as) ?? item.as) ?? undefined)
    if (known?.kind === kind.name) return known
    const home = `${this.#memory.projectId}/`
    const returned = item.origin?.startsWith(home) ? reader.entity(item.origin.slice(home.length)) : undefined
    if (returned?.kind === kind.name) return returned
    const mark = item.origin !== undefined ? (['origin', item.origin] as const) : item.same
    const marked = mark && this.#marked(kind.name, mark[0]).get(mark[1])
    if (marked !== undefined) return reader.entity(marked)
    const id = identityOf(kind, values)
    if (id === undefined) return undefined
    let there = reader.entity(id)
    for (let n = 1; !there?.live; n++) {
      const next = reader.entity(`${id}~${n}`) // where an erased one had the id
      if (!next) break
      there = next
    }
    const name = String(values[kind.key[0]])
    if (kind.identity !== 'name' || (there?.live && foldName(there.name) === foldName(name))) return there
    const called = reader.byName(nameKey(name)).filter((e) => e.kind === kind.name && e.live)
    return called.length === 1 ? called[0] : there
  }

  /** Entities of this import by a mark in their attrs. */
  #marked(kind: string, attr: string): Map<string, string> {
    const index = `${kind} ${attr}`
    let found = this.#same.get(index)
    if (!found) {
      found = new Map()
      for (const e of this.#memory.reader.list(kind, { all: true })) {
        const value = isTree(e.fields.attrs) ? e.fields.attrs[attr] : undefined
        // an origin means one thing everywhere, any other mark only within its source
        if (typeof value === 'string' && (attr === 'origin' || this.#isFrom(e))) found.set(value, e.id)
      }
      this.#same.set(index, found)
    }
    return found
  }

  #sources(e: Entity): unknown[] {
    return Array.isArray(e.fields.provenance) ? e.fields.provenance.map((p) => (p as Args).source) : []
  }

  #isFrom(e: Entity): boolean {
    return this.#sources(e).includes(this.#options.source)
  }

  #statedOf(id: string): Stated {
    let stated = this.#stated.get(id)
    if (!stated) this.#stated.set(id, (stated = new Set()))
    return stated
  }

  #create(item: Item, kind: Kind, checked: { args: Args; changes: Change[] }, values: Args): Unit {
    const args: Args = { ...checked.args }
    if (args.standing === undefined && this.#options.standing === 'proposed') args.standing = 'proposed'
    let id = identityOf(kind, values)
    const actions: Action[] = []
    const wanted = item.origin === undefined ? undefined : item.as
    const first = wanted !== undefined && wanted !== id ? this.#firstName(kind, wanted) : undefined
    if (first !== undefined) {
      // it was renamed or reworded since it got its id: it is recorded as what it was called first, then called anew
      const key = kind.key[0]
      id = wanted!
      actions.push([item.verb, { ...args, [key]: first }])
      actions.push(
        kind.identity === 'name'
          ? ['rename', { ref: id, name: args[key] }]
          : [item.verb, { ref: id, [key]: args[key] }],
      )
    } else {
      if (wanted !== undefined && wanted !== id)
        args.attrs = { ...(args.attrs as Args | undefined), origin: item.origin! }
      actions.push([item.verb, args])
    }
    if (item.retired !== undefined) {
      if (id !== undefined) actions.push(['retire', { ref: id, reason: item.retired }])
      else if (item.as !== undefined)
        this.#deferred.push({ verb: 'retire', args: { ref: item.as, reason: item.retired }, where: item.where })
    }
    if (id !== undefined) {
      difference(kind, undefined, checked.changes, neverBefore, this.#statedOf(id))
      if (item.slot !== undefined) actions.push(...this.#replaceInSlot(kind, item.slot, id))
    }
    return { item, actions, kind: kind.name, created: true, ...(id !== undefined ? { id } : {}) }
  }

  /** What an entity was called when it got this id, if that can be told from the id. */
  #firstName(kind: Kind, id: string): string | undefined {
    const name = id.slice(kind.name.length + 1)
    if (kind.identity === 'event' || kind.key.length > 1 || identityOf(kind, { [kind.key[0]]: name }) !== id)
      return undefined
    return this.#memory.reader.byName(nameKey(name)).some((e) => e.kind === kind.name && e.live) ? undefined : name
  }

  #replaceInSlot(kind: Kind, slot: string, id: string): Action[] {
    return this.#owned(kind.name)
      .filter((e) => e.id !== id && !this.#touched.has(e.id) && asList(e.fields.locations).includes(slot))
      .map((old): Action => {
        this.#touched.add(old.id)
        return ['supersede', { old: old.id, new: id, reason: `${slot} changed` }]
      })
  }

  #update(item: Item, kind: Kind, target: Entity, given: readonly Change[]): Unit | undefined {
    this.#touched.add(target.id)
    if (item.as !== undefined) this.#aliases.set(item.as, target.id)
    const changes = given
      .filter((c) => c.field !== 'standing') // whether somebody agreed is this project's own matter
      .map((c) =>
        c.field === 'locations' && c.op === 'edit' && !c.replace ? { ...c, remove: this.#moved(target, c.add) } : c,
      )
    const history = lazily(() => beforeOf(this.#memory, target.id, this.#options.source))
    const { args, kept, contradicted } = difference(kind, target, changes, history, this.#statedOf(target.id))
    const what = `${kind.name} ${target.name}`
    for (const field of kept) this.#keep(item.where, what, `${field} was changed here and not in the source`)
    for (const field of contradicted)
      this.#leaveOut(item.where, what, `${field} is said twice, differently; the first holds`)
    const actions: Action[] = []
    if (Object.keys(args).length > 0) actions.push([`record-${kind.name}`, { ref: target.id, ...args }])
    actions.push(...this.#retirement(item, target, what))
    if (item.slot !== undefined) actions.push(...this.#reinstate(target.id, item.slot))
    if (actions.length > 0) return { item, actions, kind: kind.name, created: false, id: target.id }
    this.#tally(kind.name, 'unchanged')
    return undefined
  }

  /** Locations in the files of this import where the source no longer has it. */
  #moved(target: Entity, now: readonly string[]): string[] {
    const all = this.#locations.get(target.id) ?? new Set(now)
    return asList(target.fields.locations).filter((l) => this.#isInFiles(l) && !all.has(l) && !now.includes(l))
  }

  #isInFiles(location: string): boolean {
    return (this.#reading.files ?? []).some((f) => location.startsWith(`${f}:`) || location.startsWith(`${f}#`))
  }

  /** Retires and restores as the source does, unless somebody here has decided otherwise. */
  #retirement(item: Item, target: Entity, what: string): Action[] {
    const now = target.fields.retired
    if ((now !== undefined) === (item.retired !== undefined)) return []
    const last = this.#memory.history(target.id).findLast((e) => e.event.field === 'retired')
    const ours = last?.author?.source === this.#options.source
    if (item.retired !== undefined) {
      if (!last) return [['retire', { ref: target.id, reason: item.retired }]]
      if (ours) return [['retire', { ref: target.id, reason: item.retired }]] // this import restored it before
      this.#keep(item.where, what, 'restored here')
    } else if (ours) return [['restore', { ref: target.id }]]
    else this.#keep(item.where, what, 'retired here')
    return []
  }

  /** A rule that stands in its slot again is no longer superseded by the one that stood there in between. */
  #reinstate(id: string, slot: string): Action[] {
    return this.#memory.reader
      .links('to', id)
      .filter((l) => l.type === 'supersedes' && this.#isFrom(l.entity))
      .filter((l) => asList(this.#memory.reader.entity(l.from)?.fields.locations).includes(slot))
      .map((l) => ['unlink-entities', { from: l.from, to: id, type: 'supersedes', reason: `${slot} says so again` }])
  }

  /** References in fields, by the ids they have here; those to what is still to come are said later. */
  #withAliases(item: Item, kind: Kind): Args {
    const out: Args = { ...item.args }
    for (const [field, spec] of Object.entries(kind.fields)) {
      const value = out[field]
      if (!spec.refs || value === undefined) continue
      const waiting = asStrings(value).some(
        (v) => v !== item.as && this.#announced.has(v) && !this.#memory.reader.entity(v),
      )
      if (waiting && item.as !== undefined) {
        this.#deferred.push({ verb: item.verb, args: { ref: item.as, [field]: value }, where: item.where, as: item.as })
        delete out[field]
      } else out[field] = mapStrings(value, (v) => this.#aliases.get(v) ?? v)
    }
    if (typeof out.ref === 'string') out.ref = this.#aliases.get(out.ref) ?? out.ref
    return out
  }

  #end(item: Item, arg: string): Entity | undefined {
    const ref = String(item.args[arg])
    if (!this.#aliases.has(ref) && this.#pending.length > 0 && this.#memory.reader.find(ref).length !== 1) this.#flush()
    const id = this.#aliases.get(ref)
    const found = id !== undefined ? [this.#memory.reader.entity(id)!] : this.#memory.reader.find(ref)
    if (found.length === 1) return found[0]
    const why = found.length === 0 ? `"${shown(ref)}" is not there` : `"${shown(ref)}" means several things`
    this.#leaveOut(
      item.where,
      `${item.verb === 'supersede' ? 'supersedes' : item.args.type}: ${item.args.from ?? item.args.new} → ${item.args.to ?? item.args.old}`,
      why,
    )
    return undefined
  }

  #link(item: Item): Unit | undefined {
    const from = this.#end(item, 'from')
    const to = from && this.#end(item, 'to')
    if (!from || !to) return undefined
    const type = String(item.args.type)
    const what = `${type}: ${from.name} → ${to.name}`
    const relation = this.#memory.registry().relation(type)
    if (!relation) this.#leaveOut(item.where, what, `there is no relation "${type}"`)
    else if (from.id === to.id) this.#leaveOut(item.where, what, 'an entity is not linked to itself')
    if (!relation || from.id === to.id) return undefined
    const [src, dst] = relation.symmetric && to.id < from.id ? [to, from] : [from, to]
    const id = linkId(src.id, type, dst.id)
    if (this.#pendingIds.has(id)) this.#flush()
    const there = this.#memory.reader.entity(id)
    const { from: _from, to: _to, type: _type, ...said } = item.args
    if (there && !there.live) {
      this.#keep(item.where, what, 'unlinked here')
      return undefined
    }
    const kind = this.#memory.registry().kind(LINK_KIND)!
    const checked = this.#changes(item, kind, said)
    if (!checked) return undefined
    const changes = there ? checked.changes.filter((c) => c.field !== 'standing') : checked.changes
    const history = lazily(() => beforeOf(this.#memory, id, this.#options.source))
    const { args, kept } = difference(kind, there, changes, history, this.#statedOf(id))
    for (const field of kept) this.#keep(item.where, what, `${field} was changed here and not in the source`)
    const actions: Action[] = []
    if (!there || Object.keys(args).length > 0)
      actions.push(['link-entities', { from: src.id, to: dst.id, type, ...args }])
    if (there) actions.push(...this.#retirement(item, there, what))
    else if (item.retired !== undefined) actions.push(['retire', { ref: id, reason: item.retired }])
    if (actions.length > 0) return { item, actions, kind: 'link', created: !there, id }
    this.#tally('link', 'unchanged')
    return undefined
  }

  #supersede(item: Item): Unit | undefined {
    const next = this.#end(item, 'new')
    const old = next && this.#end(item, 'old')
    if (!next || !old) return undefined
    const id = linkId(next.id, 'supersedes', old.id)
    if (this.#pendingIds.has(id)) this.#flush()
    const there = this.#memory.reader.entity(id)
    if (there?.live) this.#tally('link', 'unchanged')
    else if (there) this.#keep(item.where, `supersedes: ${next.name} → ${old.name}`, 'unlinked here')
    if (there) return undefined
    const { reason } = item.args
    const args = { old: old.id, new: next.id, ...(reason !== undefined ? { reason } : {}) }
    return { item, actions: [['supersede', args]], kind: 'link', created: true, id }
  }

  #define(item: Item): Unit | undefined {
    const kindName = item.verb === 'define-kind' ? KIND_KIND : RELATION_KIND
    const name = String(item.args.name)
    const registry = this.#memory.registry()
    const there = this.#memory.reader.find(`${kindName}:${name}`).find((e) => e.kind === kindName)
    const core = item.verb === 'define-kind' ? registry.kind(name) : registry.relation(name)
    if (core && !there) return undefined // it has become a core one since
    const checked = this.#changes(item, registry.kind(kindName)!, item.args as Args)
    if (!checked) return undefined
    const history = lazily(() => beforeOf(this.#memory, there?.id ?? '', this.#options.source))
    const changes = checked.changes.map((c) => (c.op === 'edit' ? { ...c, replace: true } : c))
    const { args } = difference(registry.kind(kindName)!, there, changes, history, new Set())
    if (there && Object.keys(args).length === 0) {
      this.#tally(kindName, 'unchanged')
      return undefined
    }
    return { item, actions: [[item.verb, item.args]], kind: kindName, created: !there }
  }

  #propose(item: Item): Unit | undefined {
    const [verb, inner] = item.args.action as [string, Args]
    const action: Json = [verb, mapStrings(inner, (v) => this.#aliases.get(v) ?? v)]
    const id = identityOf(this.#memory.registry().kind('proposal')!, { action: canonical(action) })!
    const there = this.#memory.reader.entity(id)
    const said = asList(there?.fields.evidence)
    if (there && (!there.live || typeof item.args.evidence !== 'string' || said.includes(item.args.evidence))) {
      this.#tally('proposal', 'unchanged')
      return undefined
    }
    return { item, actions: [['propose', { ...item.args, action }]], kind: 'proposal', created: !there, id }
  }

  #retire(item: Item): Unit | undefined {
    const ref = String(item.args.ref)
    const target = this.#memory.reader.entity(this.#aliases.get(ref) ?? ref)
    if (!target || target.fields.retired !== undefined) return undefined
    return { item, actions: [['retire', { ...item.args, ref: target.id }]], kind: '', created: false, id: target.id }
  }

  /** Writes what is pending. What is refused is taken out and told, and the rest is written without it. */
  #flush(): void {
    let units = this.#pending
    this.#pending = []
    this.#pendingIds.clear()
    this.#definesPending = false
    while (units.length > 0) {
      const actions = units.flatMap((u) => u.actions)
      try {
        this.#noteWritten(units, this.#act(actions))
        return
      } catch (error) {
        const problems = (error as UserError).details?.problems as Problem[] | undefined
        if (!problems) throw error
        const refused = new Map<Unit, Problem>()
        for (const p of problems) {
          let index = p.index
          const unit = units.find((u) => (index -= u.actions.length) < 0)
          if (unit && !refused.has(unit)) refused.set(unit, p)
        }
        for (const [unit, p] of refused)
          this.#leaveOut(
            unit.item.where,
            `${p.verb} ${String(unit.actions[0]![1][Object.keys(unit.actions[0]![1])[0]!] ?? '')}`,
            `${p.field ? `${p.field}: ` : ''}${p.message}${p.hint ? ` (${p.hint})` : ''}`,
          )
        units = units.filter((u) => !refused.has(u))
        if (refused.size === 0) throw error
      }
    }
  }

  #act(actions: Action[]) {
    const { source, session, agent } = this.#options
    const options: ActOptions = { source, redact: true, ...(session ? { session } : {}), ...(agent ? { agent } : {}) }
    const done = this.#memory.act(actions, options)
    if (done.batch !== null) this.#report.batches.push(done.batch)
    return done.results
  }

  #noteWritten(units: readonly Unit[], results: readonly { id: string }[]): void {
    let at = 0
    for (const unit of units) {
      const { id } = results[at]!
      at += unit.actions.length
      if (unit.kind !== '') this.#tally(unit.kind, unit.created ? 'created' : 'updated')
      this.#touched.add(id)
      const { item } = unit
      if (item.as !== undefined) this.#aliases.set(item.as, id)
      if (!unit.created) continue
      if (item.same) this.#marked(unit.kind, item.same[0]).set(item.same[1], id)
      if (item.origin !== undefined) this.#marked(unit.kind, 'origin').set(item.origin, id)
    }
  }

  /** Live entities that came from this source and no other, and still hold. */
  #owned(kind: string): Entity[] {
    return this.#memory.reader.list(kind).filter((e) => this.#sources(e).every((s) => s === this.#options.source))
  }

  /** What the source said once and says no longer: its own rules and pieces are retired, the rest is told. */
  #settleGone(): void {
    const owns = this.#reading.owns ?? []
    const superseded = (id: string) => this.#memory.reader.links('to', id).some((l) => l.type === 'supersedes')
    for (const kind of new Set([...owns, ...Object.keys(this.#report.kinds)])) {
      if (!this.#memory.registry().kind(kind) || kind === KIND_KIND || kind === RELATION_KIND) continue
      for (const e of this.#memory.reader.list(kind)) {
        if (this.#touched.has(e.id) || !this.#isFrom(e) || superseded(e.id)) continue
        const item: Item = { verb: 'retire', args: {}, where: this.#options.source }
        const what = `${kind} ${e.name}`
        const alone = this.#sources(e).every((s) => s === this.#options.source)
        const reason = `no longer in ${this.#reading.files?.join(', ') || 'the source'}`
        const stale = asList(e.fields.locations).filter((l) => this.#isInFiles(l))
        if (owns.includes(kind) && alone) {
          const restored = this.#memory.history(e.id).some((h) => h.event.field === 'retired')
          if (restored) continue
          this.#report.gone.push({ where: e.id, what: shown(e.name), why: `${reason}: retired` })
          this.#add({ item, actions: [['retire', { ref: e.id, reason }]], kind, created: false, id: e.id })
        } else if (owns.includes(kind) && stale.length > 0) {
          this.#report.gone.push({ where: e.id, what: shown(e.name), why: `${reason}: location taken off` })
          const args = { ref: e.id, locations: { remove: stale } }
          this.#add({ item, actions: [[`record-${kind}`, args]], kind, created: false, id: e.id })
        } else if (!owns.includes(kind))
          this.#report.gone.push({ where: e.id, what: shown(what), why: `${reason}; it stays` })
      }
    }
  }

  #add(unit: Unit): void {
    this.#pending.push(unit)
    if (this.#pending.length >= MAX_ACTIONS) this.#flush()
  }
}

const neverBefore = () => ({ register: () => undefined, leaf: () => undefined, items: () => [] })

const isTree = (value: Json | undefined): value is Args =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const asStrings = (value: Json): string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((v) => typeof v === 'string') : []

function mapStrings(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((v) => mapStrings(v, change))
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, mapStrings(v, change)]))
}

/** Arguments without texts of which nothing is left. */
function withoutEmpty(args: Args): Args {
  return Object.fromEntries(
    Object.entries(args).flatMap(([arg, value]): [string, Json][] => {
      if (value === '') return []
      return [[arg, Array.isArray(value) ? value.filter((v) => v !== '') : value]]
    }),
  )
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}
