import type { Action } from '../../../engine/write/batch.ts'
import { canonical } from '../../../model/canonical.ts'
import { type Entity, identityOf, isProposedInFile, placePaths, standingOf } from '../../../model/entity.ts'
import type { Kind } from '../../../model/kind.ts'
import { isObject, type JsonObject } from '../../../model/object.ts'
import { type Change, type Report, validate } from '../../../model/validate.ts'
import { beforeOf, difference } from './compare.ts'
import type { ImportRun } from './import-run.ts'
import { asList, asStrings, mapStrings } from './json-values.ts'
import type { Unit } from './queue.ts'
import type { Item } from './types.ts'

/** An entity: recorded where it is not there, else only what differs. */
export function record(state: ImportRun, item: Item, kind: Kind): Unit | undefined {
  const { ref, ...given } = withIds(state, item, kind)
  const checked = check(state, item, kind, given)
  if (!checked) return undefined
  const values = Object.fromEntries(checked.changes.flatMap((c) => (c.op === 'set' ? [[c.field, c.value]] : [])))
  const name = String(values[kind.key[0]] ?? '')
  if (ref === undefined && name.trim() === '')
    return state.leaveOut(item, kind.name, `nothing stands in ${kind.key[0]}`)
  const target =
    typeof ref === 'string'
      ? state.reader.entity(ref)
      : state.finder.target(item, kind, values, item.as && state.idOf(item.as))
  if (!target) return create(state, item, kind, checked, values)
  if (target.live) return update(state, item, kind, target, checked.changes)
  state.touched.add(target.id)
  return state.keep(item, `${kind.name} ${name}`, `deleted here; ["restore", {"ref": "${target.id}"}] brings it back`)
}

/** References in fields, by the ids they have here; those to what is still to come are said later. */
function withIds(state: ImportRun, item: Item, kind: Kind): JsonObject {
  const out = { ...item.args } as JsonObject
  for (const [field, spec] of Object.entries(kind.fields)) {
    const value = out[field]
    if (!spec.refs || value === undefined) continue
    const isToCome = (v: string) => v !== item.as && state.announced.has(v) && !state.reader.entity(v)
    if (item.as !== undefined && asStrings(value).some(isToCome)) {
      state.deferred.push({ verb: item.verb, args: { ref: item.as, [field]: value }, where: item.where, as: item.as })
      delete out[field]
    } else out[field] = mapStrings(value, (v) => state.idOf(v))
  }
  if (typeof out.ref === 'string') out.ref = state.idOf(out.ref)
  return out
}

type Checked = Readonly<{ args: JsonObject; changes: readonly Change[] }>

/** Checked arguments. What a field does not take goes into attrs, once, and is told. */
export function check(state: ImportRun, item: Item, kind: Kind, args: JsonObject, again = false): Checked | undefined {
  const problems: Parameters<Report>[0][] = []
  const report: Report = (p) => void problems.push(p)
  const changes = placePaths(state.registry, kind, validate(kind, args, report), report)
  const [first] = problems
  if (!first) return { args, changes }
  const fieldOf = (p: { field: string }) => p.field.split('.')[0]!
  const bad = new Set(problems.map(fieldOf))
  if (again || bad.has('attrs') || kind.key.some((f) => bad.has(f)) || !isObject(args.attrs ?? {}))
    return state.leaveOut(item, `${kind.name} ${String(args[kind.key[0]] ?? '')}`, `${first.field}: ${first.message}`)
  for (const p of problems) {
    const accepted = p.accepted && p.accepted.length < 120 ? ` (${p.accepted})` : ''
    const what = `${p.field} = ${canonical(args[fieldOf(p)] ?? null)}`
    state.leaveOut(item, what, `${p.message}${accepted}; kept in attrs`)
  }
  const entries = Object.entries(args)
  const moved = Object.fromEntries(entries.filter(([f, v]) => bad.has(f) && v !== null))
  const attrs = { ...(args.attrs as JsonObject | undefined), ...moved }
  return check(state, item, kind, { ...Object.fromEntries(entries.filter(([f]) => !bad.has(f))), attrs }, true)
}

function create(state: ImportRun, item: Item, kind: Kind, { args: given, changes }: Checked, values: JsonObject): Unit {
  const args = { ...given }
  if (args.standing === undefined && state.options.standing === 'proposed') args.standing = 'proposed'
  const own = identityOf(kind, values)
  const foreign = item.origin !== undefined && item.as !== own ? item.as : undefined
  const first = foreign === undefined ? undefined : state.finder.firstName(kind, foreign)
  if (foreign !== undefined && first === undefined)
    args.attrs = { ...(args.attrs as JsonObject | undefined), origin: item.origin! }
  const id = first === undefined ? own : foreign
  const actions: Action[] = []
  if (first === undefined) actions.push([item.verb, args])
  else {
    // renamed or reworded since it got its id: recorded as what it was called first, then called anew
    const [key] = kind.key
    actions.push([item.verb, { ...args, [key]: first }])
    const isNamed = kind.identity === 'name'
    actions.push(isNamed ? ['rename', { ref: id, name: args[key] }] : [item.verb, { ref: id, [key]: args[key] }])
  }
  if (item.retired !== undefined) {
    const retire = ['retire', { ref: id ?? item.as ?? null, reason: item.retired }] as const
    if (id !== undefined) actions.push(retire)
    else if (item.as !== undefined) state.deferred.push({ verb: retire[0], args: retire[1], where: item.where })
  }
  if (id !== undefined) {
    difference(kind, undefined, changes, beforeOf(state.memory, id, ''), state.statedOf(id)) // for the next to say it
    if (item.slot !== undefined) actions.push(...replaceIn(state, item.slot, kind, id))
  }
  return { item, actions, kind: kind.name, created: true, id }
}

/** A rule that was found in the same slot before is superseded. */
function replaceIn(state: ImportRun, slot: string, kind: Kind, id: string): Action[] {
  const old = state.reader
    .list(kind.name)
    .filter((e) => state.finder.isFromAlone(e) && e.id !== id && !state.touched.has(e.id))
    .filter((e) => asList(e.fields.locations).includes(slot))
  for (const e of old) state.touched.add(e.id)
  return old.map((e) => ['supersede', { old: e.id, new: id, reason: `${slot} changed` }])
}

function update(state: ImportRun, item: Item, kind: Kind, target: Entity, given: readonly Change[]): Unit | undefined {
  state.isAbout(item, target.id)
  const changes = widened(state, target, item, given).map((c) =>
    c.field === 'locations' && c.op === 'edit' && !c.replace ? { ...c, remove: state.movedFrom(target, c.add) } : c,
  )
  const what = `${kind.name} ${target.name}`
  const args = compare(state, item, kind, target.id, target, changes, what)
  if (isAccepted(state, item, target)) {
    args.standing = 'confirmed'
    args.attrs = { ...(args.attrs as JsonObject | undefined), status: 'accepted' }
  }
  const actions: Action[] = Object.keys(args).length > 0 ? [[`record-${kind.name}`, { ref: target.id, ...args }]] : []
  actions.push(...retirement(state, item, target, what))
  if (item.slot !== undefined) actions.push(...reinstate(state, item.slot, target.id))
  if (actions.length > 0) return { item, actions, kind: kind.name, created: false, id: target.id }
  return state.unchanged(kind.name)
}

/** A rule that stands in several files holds where the widest of them does: without paths it holds everywhere. */
function widened({ memory }: ImportRun, target: Entity, { args }: Item, given: readonly Change[]): readonly Change[] {
  const { paths, locations } = target.fields
  const [here, own] = [locations, args.locations].map((at) => asStrings(at ?? []).map((p) => p.replace(/:\d+$/, '')))
  const isKnown = here!.some((file) => own!.includes(file))
  if (own!.length === 0 || (isKnown && here!.every((file) => own!.includes(file)))) return given
  if (paths === undefined) return given.filter((c) => c.field !== 'paths')
  // what somebody wrote by hand stays
  if (isKnown || args.paths !== undefined || !beforeOf(memory, target.id, '').isOfOther('paths')) return given
  return [...given, { field: 'paths', op: 'edit', list: true, add: [], remove: asStrings(paths), replace: false }]
}

/** What differs from what is there; what was changed here, or is said twice, is told. */
export function compare(
  state: ImportRun,
  item: Item,
  kind: Kind,
  id: string,
  there: Entity | undefined,
  given: readonly Change[],
  what: string,
): JsonObject {
  const before = beforeOf(state.memory, id, state.options.source)
  // whether somebody agreed is this project's own matter
  const changes = there ? given.filter((c) => c.field !== 'standing') : given
  const { args, kept, contradicted } = difference(kind, there, changes, before, state.statedOf(id))
  for (const field of kept) state.keep(item, what, `${field} was changed here and not in the source`)
  for (const field of contradicted) state.leaveOut(item, what, `${field} is said twice, differently; the first holds`)
  return args
}

/** Whether a record that was proposed in its file is accepted there now, and nobody here has said anything of that. */
function isAccepted({ memory, options }: ImportRun, { args }: Item, target: Entity): boolean {
  if (args.standing !== undefined || standingOf(target.fields) !== 'proposed' || !isProposedInFile(target)) return false
  return memory.history(target.id).findLast((e) => e.event.field === 'standing')?.author?.source === options.source
}

/** Retires and restores as the source does, unless somebody here has decided otherwise. */
export function retirement(state: ImportRun, item: Item, target: Entity, what: string): Action[] {
  const isRetired = target.fields.retired !== undefined
  if (isRetired === (item.retired !== undefined)) return []
  const last = state.memory.history(target.id).findLast((e) => e.event.field === 'retired')
  const isOurs = last?.author?.source === state.options.source
  if (isRetired && isOurs) return [['restore', { ref: target.id }]]
  if (!isRetired && (!last || isOurs)) return [['retire', { ref: target.id, reason: item.retired }]]
  state.keep(item, what, isRetired ? 'retired here' : 'restored here')
  return []
}

/** A rule that stands in its slot again is no longer superseded by the one that stood there in between. */
const reinstate = (state: ImportRun, slot: string, id: string): Action[] =>
  state.reader
    .links('to', id)
    .filter((l) => l.type === 'supersedes' && state.finder.isFrom(l.entity))
    .filter((l) => asList(state.reader.entity(l.from)?.fields.locations).includes(slot))
    .map((l) => ['unlink-entities', { from: l.from, to: id, type: 'supersedes', reason: `${slot} says so again` }])
