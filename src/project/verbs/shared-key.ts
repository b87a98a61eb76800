import { seen } from '../../engine/log/cells.ts'
import { type Edit, isEncoded, SHARED_FIELD, SHARED_KIND, setEdit, weightOf } from '../../engine/log/context-value.ts'
import { fold } from '../../engine/log/fold.ts'
import { sharedId } from '../../engine/write/context-key.ts'
import type { Planning, Result } from '../../engine/write/plan.ts'
import { reading } from '../../engine/write/verb.ts'
import { any } from '../../model/args.ts'
import type { Entity } from '../../model/entity.ts'
import { roundedIn } from '../../model/exact.ts'
import { type Json, number, text } from '../../model/field.ts'
import { didYouMean } from '../../model/names.ts'
import { type Report, shown } from '../../model/validate.ts'

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

const keyed = (p: Planning, said: string, field: string, report: Report): Shared | undefined => {
  if (said.length > MAX_KEY)
    return report({ field, message: `${said.length} characters; the limit is ${MAX_KEY}`, accepted: 'a short name' })
  const id = sharedId(p, said)
  const e = p.entity(id)
  return { id, key: said, entity: e?.live ? e : undefined }
}

/** The key that an action names. */
const KEY = text('the key', { required: true })
const SHARED = reading(KEY, keyed)

/** The same, where the key must be there. */
export const SHARED_THERE = reading(KEY, (p, said, field, report): (Shared & { entity: Entity }) | undefined => {
  const shared = keyed(p, said, field, report)
  if (!shared) return undefined
  if (shared.entity) return { ...shared, entity: shared.entity }
  const keys = p.ofKind(SHARED_KIND).map((e) => e.name)
  const there = keys.length > 0 ? `the keys are ${keys.slice(0, 20).join(', ')}` : 'no key is shared yet'
  return report({
    field,
    message: `nothing is shared under "${shared.key}"`,
    received: shared.key,
    accepted: didYouMean(shared.key, keys, there, (key) => `"${key}"`),
  })
})

/** Any JSON value that others will read as it was given. */
export const sharedValue = <const O extends { required?: boolean } = Record<never, never>>(
  about: string,
  o: O = {} as O,
) =>
  reading(any(about, { ...o, null: true }), (_p, value: Json, name, report): Json | undefined => {
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
    return report({
      field: name,
      message: `more than ${MAX_CELLS} values in it`,
      received: shown(value),
      accepted: 'a smaller value: share the name of a file, or several keys',
    })
  })

export const VERSION = number('only if the key still has this version; 0: not there yet', { integer: true, min: 0 })

/** What every verb takes that puts a value under a key. */
export const SHARE_ARGS = {
  key: SHARED,
  value: sharedValue('any JSON value', { required: true }),
  expectedVersion: VERSION,
} as const

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
