/**
 * formats: what comes in from other tools and goes out to them, one file per format. `import/` reads, compares with
 * what is known and writes in batches; `export/` prints.
 */

import { SHARED_FIELD, SHARED_KIND } from '../../log/context-value.ts'
import type { Memory } from '../../memory.ts'
import { canonical } from '../../model/canonical.ts'
import { type Entity, identityOf, KIND_KIND, LINK_KIND, linkId, placePaths, RELATION_KIND } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import type { Kind } from '../../model/kind.ts'
import { type Change, type Report as Complain, validate } from '../../model/validate.ts'
import { screen } from '../../secrets/screen.ts'
import type { Action } from '../../write/batch.ts'
import { sharedAt } from '../../write/context-key.ts'
import type { Actor } from '../../write/plan.ts'
import { beforeOf, difference, type Stated } from './compare.ts'
import { Finder } from './find.ts'
import { type ImportReport, Outcome, shown } from './outcome.ts'
import { Queue, type Unit } from './queue.ts'
import { shorten } from './shorten.ts'
import { scrubPairs, wellFormed } from './text.ts'
import { asList, asStrings, isTree, mapStrings, type Tree, withoutEmpty } from './trees.ts'
import type { Item, Reading } from './types.ts'

export interface ImportOptions {
  /** Where the knowledge comes from, e.g. `import add .add`: kept in the provenance of every entity, known again by it. */
  readonly source: string
  /** The standing of what is new, where the source says none. */
  readonly standing?: 'proposed' | 'confirmed'
  readonly session?: string
  readonly agent?: string
  /** Who says that its rules bind: with an agent, or whoever only takes a file in, they are proposals. */
  readonly by?: Actor
  progress?(line: string): void
}

/**
 * Writes what a source says into the memory, in as many batches as it takes. Compares first: what is so already is
 * not written again, so that a second run of the same source writes nothing at all.
 */
export function runImport(memory: Memory, reading: Reading, options: ImportOptions): ImportReport {
  return new Run(memory, reading, options).run()
}

/** One import under way: item after item is compared with what is there, and only the difference is queued. */
class Run {
  readonly #memory: Memory
  readonly #reading: Reading
  readonly #options: ImportOptions
  readonly #out: Outcome
  readonly #queue: Queue
  readonly #finder: Finder
  /** What items call an entity → its id. */
  readonly #aliases = new Map<string, string>()
  /** Names of items that are still to come. */
  readonly #announced = new Set<string>()
  readonly #stated = new Map<string, Stated>()
  readonly #locations = new Map<string, Set<string>>()
  readonly #touched = new Set<string>()
  readonly #deferred: Item[] = []

  constructor(memory: Memory, reading: Reading, options: ImportOptions) {
    this.#memory = memory
    this.#reading = reading
    this.#options = options
    const { source, session, agent, by } = options
    this.#finder = new Finder(memory, source)
    const act = {
      source,
      redact: true,
      ...(session ? { session } : {}),
      ...(agent ? { agent } : {}),
      ...(by ? { by } : {}),
    }
    this.#queue = new Queue(memory, act, {
      written: (unit, id) => this.#noteWritten(unit, id),
      refused: (unit, p) => {
        const [, args] = unit.actions[0]!
        const why = `${p.field ? `${p.field}: ` : ''}${p.message}${p.hint ? ` (${p.hint})` : ''}`
        this.#out.leaveOut(unit.item.where, `${p.verb} ${String(Object.values(args)[0] ?? '')}`, why)
      },
    })
    this.#out = new Outcome(source, reading, this.#queue.batches)
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
    this.#queue.flush()
    for (const item of this.#deferred) this.#step(item)
    this.#queue.flush()
    if (!this.#reading.partial) this.#settleGone()
    this.#queue.flush()
    return this.#out.report
  }

  /** The item without secrets, private parts and characters that no gate lets through. */
  #clean(item: Item): Item {
    const args: Tree = {}
    for (const [arg, value] of Object.entries(wellFormed(item.args as Tree)))
      args[arg] = arg === 'attrs' ? scrubPairs(value, (_, category) => this.#out.redact(item.where, category)) : value
    const screened = screen(args, true)
    for (const s of screened.secrets) this.#out.redact(item.where, s.category)
    if (!screened.privateLeftOut) return { ...item, args: screened.value as Tree }
    this.#out.report.privateLeftOut++
    return { ...item, args: withoutEmpty(screened.value as Tree) }
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
    if (!item.verb.startsWith('define-')) this.#queue.settleDefinitions()
    if (this.#waitsForPending(item)) this.#queue.flush()
    const unit = this.#prepare(item)
    if (item.as !== undefined) this.#announced.delete(item.as)
    if (unit) this.#queue.add(unit)
  }

  /** Whether the item looks at something that waits to be written. */
  #waitsForPending(item: Item): boolean {
    if (this.#queue.isEmpty) return false
    const kind = this.#memory.registry().recordedBy(item.verb)
    const id = kind && identityOf(kind, item.args)
    if (id !== undefined && this.#queue.holds(id)) return true
    return Object.values(item.args).some((v) => asStrings(v).some((s) => this.#queue.holds(s)))
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
      case 'share-set':
        return this.#share(item)
    }
    this.#out.leaveOut(item.where, item.verb, `this project knows no ${item.verb.replace(/^record-/, 'kind ')}`)
    return undefined
  }

  /** Checked arguments; what a field does not take goes into attrs, and is told. */
  #changes(item: Item, kind: Kind, given: Tree): { args: Tree; changes: Change[] } | undefined {
    let args = given
    for (let attempt = 0; ; attempt++) {
      const problems: Parameters<Complain>[0][] = []
      const report: Complain = (p) => void problems.push(p)
      const changes = placePaths(this.#memory.registry(), kind, validate(kind, args, report), report)
      const first = problems[0]
      if (!first) return { args, changes }
      const fields = new Set(problems.map((p) => p.field.split('.')[0]!))
      const hopeless = attempt > 0 || fields.has('attrs') || kind.key.some((f) => fields.has(f))
      if (hopeless || !isTree(args.attrs ?? {})) {
        this.#out.leaveOut(
          item.where,
          `${kind.name} ${String(args[kind.key[0]] ?? '')}`,
          `${first.field}: ${first.message}`,
        )
        return undefined
      }
      for (const p of problems)
        this.#out.leaveOut(
          item.where,
          `${p.field} = ${canonical(args[p.field.split('.')[0]!] ?? null)}`,
          `${p.message}${p.accepted && p.accepted.length < 120 ? ` (${p.accepted})` : ''}; kept in attrs`,
        )
      const moved = Object.entries(args).filter(([f, v]) => fields.has(f) && v !== null)
      args = {
        ...Object.fromEntries(Object.entries(args).filter(([f]) => !fields.has(f))),
        attrs: { ...(args.attrs as Tree | undefined), ...Object.fromEntries(moved) },
      }
    }
  }

  #record(item: Item, kind: Kind): Unit | undefined {
    const given = this.#withAliases(item, kind)
    const ref = given.ref
    delete given.ref
    const checked = this.#changes(item, kind, given)
    if (!checked) return undefined
    const values = Object.fromEntries(checked.changes.flatMap((c) => (c.op === 'set' ? [[c.field, c.value]] : [])))
    const key = kind.key[0]
    const name = String(values[key] ?? '')
    if (ref === undefined && name.trim() === '') {
      this.#out.leaveOut(item.where, kind.name, `nothing stands in ${key}`)
      return undefined
    }
    const target =
      typeof ref === 'string'
        ? this.#memory.reader.entity(ref)
        : this.#finder.target(item, kind, values, item.as && (this.#aliases.get(item.as) ?? item.as))
    if (target && !target.live) {
      this.#out.keep(
        item.where,
        `${kind.name} ${name}`,
        `deleted here; ["restore", {"ref": "${target.id}"}] brings it back`,
      )
      this.#touched.add(target.id)
      return undefined
    }
    return target ? this.#update(item, kind, target, checked.changes) : this.#create(item, kind, checked, values)
  }

  /** A value that sessions share here already stays: it is theirs. */
  #share(item: Item): Unit | undefined {
    const key = String(item.args.key)
    const there = sharedAt(this.#memory.reader, key)
    if (!there) return { item, actions: [[item.verb, item.args]], kind: SHARED_KIND, created: true }
    this.#touched.add(there.id)
    if (item.as !== undefined) this.#aliases.set(item.as, there.id)
    if (canonical(there.fields[SHARED_FIELD] ?? null) !== canonical(item.args.value ?? null))
      this.#out.keep(item.where, `${SHARED_KIND} ${key}`, 'another value is shared under it here')
    this.#out.count(SHARED_KIND, 'unchanged')
    return undefined
  }

  #statedOf(id: string): Stated {
    let stated = this.#stated.get(id)
    if (!stated) this.#stated.set(id, (stated = new Set()))
    return stated
  }

  #create(item: Item, kind: Kind, checked: { args: Tree; changes: Change[] }, values: Tree): Unit {
    const args: Tree = { ...checked.args }
    if (args.standing === undefined && this.#options.standing === 'proposed') args.standing = 'proposed'
    let id = identityOf(kind, values)
    const actions: Action[] = []
    const wanted = item.origin === undefined ? undefined : item.as
    const first = wanted !== undefined && wanted !== id ? this.#finder.firstName(kind, wanted) : undefined
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
        args.attrs = { ...(args.attrs as Tree | undefined), origin: item.origin! }
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
    for (const field of kept) this.#out.keep(item.where, what, `${field} was changed here and not in the source`)
    for (const field of contradicted)
      this.#out.leaveOut(item.where, what, `${field} is said twice, differently; the first holds`)
    const actions: Action[] = []
    if (Object.keys(args).length > 0) actions.push([`record-${kind.name}`, { ref: target.id, ...args }])
    actions.push(...this.#retirement(item, target, what))
    if (item.slot !== undefined) actions.push(...this.#reinstate(target.id, item.slot))
    if (actions.length > 0) return { item, actions, kind: kind.name, created: false, id: target.id }
    this.#out.count(kind.name, 'unchanged')
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
      this.#out.keep(item.where, what, 'restored here')
    } else if (ours) return [['restore', { ref: target.id }]]
    else this.#out.keep(item.where, what, 'retired here')
    return []
  }

  /** A rule that stands in its slot again is no longer superseded by the one that stood there in between. */
  #reinstate(id: string, slot: string): Action[] {
    return this.#memory.reader
      .links('to', id)
      .filter((l) => l.type === 'supersedes' && this.#finder.isFrom(l.entity))
      .filter((l) => asList(this.#memory.reader.entity(l.from)?.fields.locations).includes(slot))
      .map((l) => ['unlink-entities', { from: l.from, to: id, type: 'supersedes', reason: `${slot} says so again` }])
  }

  /** References in fields, by the ids they have here; those to what is still to come are said later. */
  #withAliases(item: Item, kind: Kind): Tree {
    const out: Tree = { ...item.args }
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
    if (!this.#aliases.has(ref) && !this.#queue.isEmpty && this.#memory.reader.find(ref).length !== 1)
      this.#queue.flush()
    const id = this.#aliases.get(ref)
    const found = id !== undefined ? [this.#memory.reader.entity(id)!] : this.#memory.reader.find(ref)
    if (found.length === 1) return found[0]
    const why = found.length === 0 ? `"${shown(ref)}" is not there` : `"${shown(ref)}" means several things`
    this.#out.leaveOut(
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
    if (!relation) this.#out.leaveOut(item.where, what, `there is no relation "${type}"`)
    else if (from.id === to.id) this.#out.leaveOut(item.where, what, 'an entity is not linked to itself')
    if (!relation || from.id === to.id) return undefined
    const [src, dst] = relation.symmetric && to.id < from.id ? [to, from] : [from, to]
    const id = linkId(src.id, type, dst.id)
    if (this.#queue.holds(id)) this.#queue.flush()
    const there = this.#memory.reader.entity(id)
    const { from: _from, to: _to, type: _type, ...said } = item.args
    if (there && !there.live) {
      this.#out.keep(item.where, what, 'unlinked here')
      return undefined
    }
    const kind = this.#memory.registry().kind(LINK_KIND)!
    const checked = this.#changes(item, kind, said)
    if (!checked) return undefined
    const changes = there ? checked.changes.filter((c) => c.field !== 'standing') : checked.changes
    const history = lazily(() => beforeOf(this.#memory, id, this.#options.source))
    const { args, kept } = difference(kind, there, changes, history, this.#statedOf(id))
    for (const field of kept) this.#out.keep(item.where, what, `${field} was changed here and not in the source`)
    const actions: Action[] = []
    if (!there || Object.keys(args).length > 0)
      actions.push(['link-entities', { from: src.id, to: dst.id, type, ...args }])
    if (there) actions.push(...this.#retirement(item, there, what))
    else if (item.retired !== undefined) actions.push(['retire', { ref: id, reason: item.retired }])
    if (actions.length > 0) return { item, actions, kind: 'link', created: !there, id }
    this.#out.count('link', 'unchanged')
    return undefined
  }

  #supersede(item: Item): Unit | undefined {
    const next = this.#end(item, 'new')
    const old = next && this.#end(item, 'old')
    if (!next || !old) return undefined
    const id = linkId(next.id, 'supersedes', old.id)
    if (this.#queue.holds(id)) this.#queue.flush()
    const there = this.#memory.reader.entity(id)
    if (there?.live) this.#out.count('link', 'unchanged')
    else if (there) this.#out.keep(item.where, `supersedes: ${next.name} → ${old.name}`, 'unlinked here')
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
    const checked = this.#changes(item, registry.kind(kindName)!, item.args as Tree)
    if (!checked) return undefined
    const history = lazily(() => beforeOf(this.#memory, there?.id ?? '', this.#options.source))
    const changes = checked.changes.map((c) => (c.op === 'edit' ? { ...c, replace: true } : c))
    const { args } = difference(registry.kind(kindName)!, there, changes, history, new Set())
    if (there && Object.keys(args).length === 0) {
      this.#out.count(kindName, 'unchanged')
      return undefined
    }
    return { item, actions: [[item.verb, item.args]], kind: kindName, created: !there }
  }

  #propose(item: Item): Unit | undefined {
    const [verb, inner] = item.args.action as [string, Tree]
    const action: Json = [verb, mapStrings(inner, (v) => this.#aliases.get(v) ?? v)]
    const id = identityOf(this.#memory.registry().kind('proposal')!, { action: canonical(action) })!
    const there = this.#memory.reader.entity(id)
    const said = asList(there?.fields.evidence)
    if (there && (!there.live || typeof item.args.evidence !== 'string' || said.includes(item.args.evidence))) {
      this.#out.count('proposal', 'unchanged')
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

  #noteWritten({ item, kind, created, id: known }: Unit, written: string): void {
    const id = created ? written : (known ?? written) // an edit that waits for a yes is written to a proposal
    if (kind !== '') this.#out.count(kind, created ? 'created' : 'updated')
    this.#touched.add(id)
    if (item.as !== undefined) this.#aliases.set(item.as, id)
    if (created) this.#finder.remember(item, kind, id)
  }

  /** Live entities that came from this source and no other, and still hold. */
  #owned(kind: string): Entity[] {
    return this.#memory.reader.list(kind).filter((e) => this.#finder.isFromAlone(e))
  }

  /** What the source said once and says no longer: its own rules and pieces are retired, the rest is told. */
  #settleGone(): void {
    const owns = this.#reading.owns ?? []
    const superseded = (id: string) => this.#memory.reader.links('to', id).some((l) => l.type === 'supersedes')
    for (const kind of new Set([...owns, ...Object.keys(this.#out.report.kinds)])) {
      if (!this.#memory.registry().kind(kind) || kind === KIND_KIND || kind === RELATION_KIND) continue
      for (const e of this.#memory.reader.list(kind)) {
        if (this.#touched.has(e.id) || !this.#finder.isFrom(e) || superseded(e.id)) continue
        const item: Item = { verb: 'retire', args: {}, where: this.#options.source }
        const what = `${kind} ${e.name}`
        const alone = this.#finder.isFromAlone(e)
        const reason = `no longer in ${this.#reading.files?.join(', ') || 'the source'}`
        const stale = asList(e.fields.locations).filter((l) => this.#isInFiles(l))
        if (owns.includes(kind) && alone) {
          const restored = this.#memory.history(e.id).some((h) => h.event.field === 'retired')
          if (restored) continue
          this.#out.lose(e.id, e.name, `${reason}: retired`)
          this.#queue.add({ item, actions: [['retire', { ref: e.id, reason }]], kind, created: false, id: e.id })
        } else if (owns.includes(kind) && stale.length > 0) {
          this.#out.lose(e.id, e.name, `${reason}: location taken off`)
          const args = { ref: e.id, locations: { remove: stale } }
          this.#queue.add({ item, actions: [[`record-${kind}`, args]], kind, created: false, id: e.id })
        } else if (!owns.includes(kind)) this.#out.lose(e.id, what, `${reason}; it stays`)
      }
    }
  }
}

const neverBefore = () => ({ register: () => undefined, leaf: () => undefined, items: () => [] })

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}
