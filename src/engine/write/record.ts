import { normalizeJson } from '../../model/canonical.ts'
import type { Entity } from '../../model/entity.ts'
import { absoluteIds, eventId, identityOf, linkId, nameKey, pathInProject, placePaths } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import type { Kind } from '../../model/kind.ts'
import { foldText, slug } from '../../model/names.ts'
import { type Change, type Report, validate } from '../../model/validate.ts'
import { seen } from '../log/cells.ts'
import { tombstoneOf } from '../store/line.ts'
import type { Args, Done, Planning } from './plan.ts'

const said = (changes: readonly Change[]): { [field: string]: Json } =>
  Object.fromEntries(changes.flatMap((c) => (c.op === 'set' ? [[c.field, c.value]] : [])))

/** `record-<kind>`: records or extends an entity. `ref` edits that one, `anew` starts over on a deleted one. */
export function record(p: Planning, kind: Kind, args: Args, report: Report): Done {
  let refused = false
  const complain: Report = (problem) => {
    refused = true
    report(problem)
  }
  const known = p.ctx.settles ? withOwnFields(kind) : kind
  const changes = placePaths(p.registry(), kind, validate(known, { ...args }, complain), complain)
  const ref = args.ref ?? args.id
  if (args.anew !== undefined && typeof args.anew !== 'boolean')
    complain({ field: 'anew', message: 'not true or false', accepted: 'true or false' })
  const status = changes.find((c) => c.field === 'status' && c.op === 'set' && c.value === 'superseded')
  if (status && kind.name === 'decision')
    complain({
      field: 'status',
      message: 'superseded is written by supersede alone',
      received: 'superseded',
      hint: '["supersede", {"old": …, "new": …}]',
    })
  const { validFrom: from, validTo: to } = said(changes)
  if (typeof from === 'string' && typeof to === 'string' && from.slice(0, to.length) > to)
    complain({ field: 'validTo', message: 'before validFrom', received: to, accepted: `${from} or later` })
  if (ref !== undefined) {
    const target = p.resolve(ref, 'ref', complain, { deleted: args.anew === true, kind: kind.name })
    if (!target || refused || !keepsName(p, kind, target, changes, complain)) return undefined
    return write(p, kind, target.id, renewed(kind, target, changes, args), args.anew === true, true)
  }
  const values = said(changes)
  const missing = (kind.identity === 'content' ? kind.key.slice(0, 1) : kind.key).filter(
    (f) => values[f] === undefined || String(values[f]).trim() === '',
  )
  const accepted = `a ${kind.name} needs ${kind.key[0]}`
  for (const f of missing)
    if (!(f in args) || args[f] === null || String(args[f]).trim() === '')
      complain({ field: f, message: 'missing; it is what identifies it', accepted })
  const own = missing.length === 0 ? recordedUnder(p, kind, values) : undefined
  if (refused) {
    if (own) p.promise(own)
    return undefined
  }
  const id = own ?? p.eventId((ms, chance) => eventId(kind, ms, chance))
  const before = p.entity(id)
  // an undone record has left nothing that recording it again could hide
  const empty = Object.keys(before?.fields ?? {}).every((f) => f === 'provenance')
  if (before && !before.live && args.anew !== true && !empty)
    return complain({
      field: kind.key[0],
      message: `"${before.name || id}" is deleted`,
      received: id,
      hint: `bring it back with ["restore", {"ref": "${id}"}], or record it with "anew": true to start over`,
    })
  return write(p, kind, id, renewed(kind, before, changes, args), args.anew === true || empty)
}

const withOwnFields = (kind: Kind): Kind => ({
  ...kind,
  fields: Object.fromEntries(Object.entries(kind.fields).map(([name, field]) => [name, { ...field, system: false }])),
})

/** Of a file with other content, under a new hash, the lists that are given take the place of the old ones. */
function renewed(kind: Kind, before: Entity | undefined, changes: Change[], args: Args): Change[] {
  if (kind.name !== 'file') return changes
  const was = before?.live ? before.fields.hash : undefined
  const isNew = was !== undefined && changes.some((c) => c.field === 'hash' && c.op === 'set' && c.value !== was)
  return changes.map((c) =>
    isNew && c.op === 'edit' && Array.isArray(args[c.field]) && c.field in kind.fields ? { ...c, replace: true } : c,
  )
}

const FOUND = ['hash', 'summary', 'concepts', 'importantSymbols', 'relatedFiles']

/** A file was read when it is said what is in it, unless the caller says when. */
const wasRead = (kind: Kind, changes: readonly Change[]): boolean =>
  kind.name === 'file' &&
  changes.some((c) => FOUND.includes(c.field)) &&
  !changes.some((c) => c.field === 'lastAnalyzed')

/** An edit by reference does not rename by the way: that may meet a name that is taken. */
export function keepsName(
  p: Planning,
  kind: Kind,
  target: Entity,
  changes: readonly Change[],
  report: Report,
): boolean {
  const c = changes.find((x) => x.field === kind.key[0])
  if (!c || (c.op === 'set' && c.value === target.fields[c.field])) return true
  if (c.op !== 'set' || String(c.value).trim() === '') {
    report({ field: c.field, message: 'cannot be cleared: it is what identifies it', received: null, accepted: 'text' })
    return false
  }
  const wanted = identityOf(kind, { ...target.fields, [c.field]: c.value })
  if (wanted === undefined) return true
  const taken = [p.entity(wanted), ...p.byName(nameKey(String(c.value)))].find(
    (e) => e?.live && e.kind === kind.name && e.id !== target.id && identityOf(kind, e.fields) === wanted,
  )
  if (!taken) return true
  report({
    field: c.field,
    message: `${taken.id} is called that already`,
    received: c.value,
    accepted: 'a name that is free',
    hint: 'supersede puts one in the place of the other',
  })
  return false
}

/** Whether this very batch erases it: the view has it still. */
const isErasedNow = (p: Planning, id: string): boolean => p.draft.moves.has(tombstoneOf(id))

/** The id, or the next one of its generation where an erased entity has it: what was erased never comes back. */
export function usableId(p: Planning, id: string | undefined): string | undefined {
  let candidate = id
  const isTaken = (id: string) => isErasedNow(p, id) || p.view.isErased(tombstoneOf(id))
  for (let generation = 1; candidate !== undefined && isTaken(candidate); generation++)
    candidate = `${id}~${generation}`
  return candidate
}

/** The id of a link, past those that were erased. */
export const linkIdNow = (p: Planning, from: string, relation: string, to: string): string =>
  usableId(p, linkId(from, relation, to))!

export function recordedAs(p: Planning, kind: Kind, args: Args): string | undefined {
  const values = Object.fromEntries(
    Object.entries(args).filter(([, v]) => typeof v === 'string' || typeof v === 'number'),
  )
  if (values[kind.key[0]] === undefined) return undefined
  if (kind.name === 'file') values.path = pathInProject(p.registry(), String(values.path)) ?? values.path
  return recordedUnder(p, kind, normalizeJson(values, []) as { [key: string]: Json })
}

/** The id under which what these values identify is found, or will be; nothing for kinds without identity. */
function recordedUnder(p: Planning, kind: Kind, values: Readonly<{ [field: string]: Json }>): string | undefined {
  const plain = identityOf(kind, values)
  const id = usableId(p, plain)
  if (id === undefined) return undefined
  // what is called so now comes before what was called so once: a rename, or an edit of the text, keeps the id
  const there = p.entity(id)
  if (there?.live && identityOf(kind, there.fields) === plain) return id
  const isCalledSo = (e: Entity) => e.live && identityOf(kind, e.fields) === plain && !isErasedNow(p, e.id)
  const called = p.byKey(kind, values).filter(isCalledSo)
  if (called.length === 1) return called[0]!.id
  const old = kind.name !== 'file' || there ? [] : absoluteIds(p.registry(), String(values.path))
  return old.find((o) => p.entity(o)?.live) ?? id
}

/** A file that was kept under an absolute path below a root goes by its relative one from here on. */
const isMoved = (p: Planning, { kind, name }: Entity): boolean =>
  kind === 'file' && pathInProject(p.registry(), name) !== name && pathInProject(p.registry(), name) !== undefined

function write(
  p: Planning,
  kind: Kind,
  id: string,
  changes: readonly Change[],
  anew: boolean,
  byRef = false,
): NonNullable<Done> {
  const before = p.entity(id)
  const fresh = before === undefined || !before.live
  if (before && !before.live && anew) p.wipe(id)
  if (fresh) p.create(id)
  // the name it goes by is changed by rename alone: recorded under an old or other spelling, it keeps the one it has
  const kept =
    before?.live && kind.identity !== 'event' && !byRef
      ? changes.filter(
          (c) => !(kind.key.includes(c.field) && seen(p.cells(id), c.field).length > 0 && !isMoved(p, before)),
        )
      : changes
  // an import or a file's reader repeats what it has read
  const changed = p.apply(id, kept, p.ctx.provenance.source === undefined)
  if ((fresh || changed) && wasRead(kind, changes)) p.set(id, 'lastAnalyzed', new Date(p.ctx.ms).toISOString())
  if (fresh || changed || kind.identity === 'content') p.sign(id, {}, fresh || changed)
  const after = p.entity(id)!
  if (before?.live && kind.identity !== 'event' && !byRef) {
    const given = changes.find((c) => c.field === kind.key[0] && c.op === 'set')
    if (
      given?.op === 'set' &&
      foldText(String(given.value)) !== foldText(after.name) &&
      slug(String(given.value)) !== slug(after.name)
    )
      p.note(`"${String(given.value)}" is now called "${after.name}"`)
    else if (given?.op === 'set' && kind.identity === 'name' && given.value !== after.name)
      p.note(`"${String(given.value)}" is the one called "${after.name}"; rename changes the spelling`)
  }
  if (after.fields.standing === 'rejected' && !changes.some((c) => c.field === 'standing'))
    p.note(
      `"${after.name}" was rejected and stays out of lists; a person takes that back with \`tidemark confirm ${id}\``,
    )
  return { id, kind: kind.name, name: after.name, created: fresh }
}

/** `delete-<kind>`: the entity leaves every list and search; its history stays, and `restore` brings it back whole. */
export function remove(p: Planning, kind: Kind, args: Args, report: Report): Done {
  const known = ['ref', 'id', 'reason', 'expectedVersion', ...kind.key]
  for (const key of Object.keys(args))
    if (!known.includes(key))
      report({ field: key, message: `no argument "${key}"`, accepted: `ref or ${kind.key[0]}, and reason` })
  const reason = args.reason
  if (reason !== undefined && typeof reason !== 'string')
    return report({ field: 'reason', message: 'not text', accepted: 'text' })
  const field = args.ref !== undefined ? 'ref' : args.id !== undefined ? 'id' : kind.key[0]
  const target = p.resolve(args.ref ?? args.id ?? args[kind.key[0]], field, report, { kind: kind.name })
  if (!target) return undefined
  p.remove(target.id, reason)
  return { id: target.id, kind: kind.name, name: target.name }
}
