import { seen } from '../log/cells.ts'
import { type Edit, isEncoded, SHARED_FIELD, SHARED_KIND, setEdit, weightOf } from '../log/context-value.ts'
import { fold } from '../log/fold.ts'
import { type GateProblem, gate } from '../model/canonical.ts'
import type { Entity } from '../model/entity.ts'
import { roundedIn } from '../model/exact.ts'
import type { Json } from '../model/field.ts'
import { nearest } from '../model/names.ts'
import { type Report, shown, textArg } from '../model/validate.ts'
import { sharedId } from '../write/context-key.ts'
import type { Planning, Result } from '../write/plan-types.ts'

const MAX_KEY = 200
/** Each scalar of a map and each item of a list is a cell of its own. */
const MAX_CELLS = 2_000

/** A key of the shared context in the plan. */
export interface Shared {
  readonly id: string
  readonly key: string
  /** What is there now, if it is. */
  readonly entity: Entity | undefined
}

/** The key that an action names; what is wrong with it is reported. */
export function sharedOf(p: Planning, args: Readonly<Record<string, unknown>>, report: Report): Shared | undefined {
  const key = textArg(args, 'key', report)?.normalize('NFC')
  if (key === undefined) return undefined
  if (key.length > MAX_KEY) {
    report({ field: 'key', message: `${key.length} characters; the limit is ${MAX_KEY}`, accepted: 'a short name' })
    return undefined
  }
  const id = sharedId(p, key)
  const e = p.entity(id)
  return { id, key, entity: e?.live ? e : undefined }
}

/** The same, where the key must be there. */
export function sharedThere(
  p: Planning,
  args: Readonly<Record<string, unknown>>,
  report: Report,
): (Shared & { entity: Entity }) | undefined {
  const shared = sharedOf(p, args, report)
  if (!shared) return undefined
  if (shared.entity) return { ...shared, entity: shared.entity }
  const keys = p.ofKind(SHARED_KIND).map((e) => e.name)
  const near = nearest(shared.key, keys)
  report({
    field: 'key',
    message: `nothing is shared under "${shared.key}"`,
    received: shared.key,
    accepted:
      near.length > 0
        ? `did you mean ${near.map((k) => `"${k}"`).join(' or ')}?`
        : keys.length > 0
          ? `the keys are ${keys.slice(0, 20).join(', ')}`
          : 'no key is shared yet',
  })
  return undefined
}

/** A JSON value as it will be stored; what is wrong with it is reported. */
export function jsonArg(args: Readonly<Record<string, unknown>>, name: string, report: Report): Json | undefined {
  if (args[name] === undefined) {
    report({ field: name, message: 'missing', accepted: 'any JSON value' })
    return undefined
  }
  const problems: GateProblem[] = []
  const value = gate(args[name], problems, [name])
  for (const x of problems)
    report({ field: x.path.join('.'), message: x.message, received: x.received, accepted: x.accepted })
  if (problems.length > 0) return undefined
  const rounded = roundedIn(value, [name])
  for (const { path, n } of rounded)
    report({
      field: path.join('.'),
      message: 'a whole number beyond 2^53, which JSON readers round: it may have been another one',
      received: String(n),
      accepted: 'the number as text',
    })
  if (rounded.length > 0) return undefined
  if (weightOf(value) <= MAX_CELLS) return value
  report({
    field: name,
    message: `more than ${MAX_CELLS} values in it`,
    received: shown(value),
    accepted: 'a smaller value: share the name of a file, or several keys',
  })
  return undefined
}

/** The field as the CRDT holds it; anything `record-context` wrote there is first taken over as a shared value. */
export function fieldOf(p: Planning, shared: Shared): Json | undefined {
  if (!shared.entity) return undefined
  const now = () => fold(p.cells(shared.id)).fields[SHARED_FIELD]
  const field = now()
  if (isEncoded(field)) return field
  apply(p, shared.id, whole(p, shared, shared.entity.fields[SHARED_FIELD] ?? null))
  return now()
}

/** What makes the value exactly this. */
export function whole(p: Planning, shared: Shared, value: Json): Edit {
  if (!shared.entity) return setEdit(undefined, [], value, p.ctx.ms)
  const cells = p.cells(shared.id)
  const there = seen(cells, SHARED_FIELD).flatMap((c) => (c.path ? [c.path] : []))
  return setEdit(fold(cells).fields[SHARED_FIELD], there, value, p.ctx.ms)
}

const apply = (p: Planning, id: string, { put, drop }: Edit): boolean =>
  p.apply(id, [{ field: SHARED_FIELD, op: 'merge', put, drop }])

/** Writes an edit; a key that is not there, or was deleted, begins with it. */
export function write(p: Planning, shared: Shared, edit: Edit): Omit<Result, 'verb'> {
  const { id, key, entity } = shared
  if (!entity) {
    if (p.entity(id)) p.wipe(id)
    p.create(id)
    p.set(id, 'key', key)
  }
  const changed = apply(p, id, edit)
  if (!entity || changed) p.sign(id)
  return { id, kind: SHARED_KIND, name: key, created: !entity }
}
