import { seen } from '../../engine/log/cells.ts'
import * as values from '../../engine/log/context-value.ts'
import { fold } from '../../engine/log/fold.ts'
import { sharedId } from '../../engine/write/context-key.ts'
import type { Planning, Result } from '../../engine/write/plan.ts'
import { defineVerb, reading } from '../../engine/write/verb.ts'
import { any, texts } from '../../model/args.ts'
import type { Entity } from '../../model/entity.ts'
import { roundedIn } from '../../model/exact-json.ts'
import { type Json, number, text } from '../../model/field.ts'
import { didYouMean } from '../../model/names.ts'
import { isObject } from '../../model/object.ts'
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

const KEY = text('the key', { required: true })
const SHARED = reading(KEY, keyed)

const SHARED_THERE = reading(KEY, (p, said, field, report): (Shared & { entity: Entity }) | undefined => {
  const shared = keyed(p, said, field, report)
  if (!shared) return undefined
  if (shared.entity) return { ...shared, entity: shared.entity }
  const keys = p.ofKind(values.SHARED_KIND).map((e) => e.name)
  const there = keys.length > 0 ? `the keys are ${keys.slice(0, 20).join(', ')}` : 'no key is shared yet'
  return report({
    field,
    message: `nothing is shared under "${shared.key}"`,
    received: shared.key,
    accepted: didYouMean(shared.key, keys, there, (key) => `"${key}"`),
  })
})

/** Any JSON value that others will read as it was given. */
const sharedValue = <const O extends { required?: boolean } = Record<never, never>>(about: string, o: O = {} as O) =>
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
    if (values.weightOf(value) <= MAX_CELLS) return value
    return report({
      field: name,
      message: `more than ${MAX_CELLS} values in it`,
      received: shown(value),
      accepted: 'a smaller value: share the name of a file, or several keys',
    })
  })

export const VERSION = number('only if the key still has this version; 0: not there yet', { integer: true, min: 0 })

/** What every verb takes that puts a value under a key. */
const SHARE_ARGS = {
  key: SHARED,
  value: sharedValue('any JSON value', { required: true }),
  expectedVersion: VERSION,
} as const

/** The field as the CRDT holds it; anything `record-context` wrote there is first taken over as a shared value. */
export function fieldOf(p: Planning, shared: Shared): Json | undefined {
  if (!shared.entity) return undefined
  const now = () => fold(p.cells(shared.id)).fields[values.SHARED_FIELD]
  const field = now()
  if (values.isEncoded(field)) return field
  apply(p, shared.id, whole(p, shared, shared.entity.fields[values.SHARED_FIELD] ?? null))
  return now()
}

/** What makes the value exactly this. */
export function whole(p: Planning, shared: Shared, value: Json): values.Edit {
  if (!shared.entity) return values.setEdit(undefined, [], value, p.ctx.ms)
  const cells = p.cells(shared.id)
  const there = seen(cells, values.SHARED_FIELD).flatMap((c) => (c.path ? [c.path] : []))
  return values.setEdit(fold(cells).fields[values.SHARED_FIELD], there, value, p.ctx.ms)
}

const apply = (p: Planning, id: string, { put, drop }: values.Edit): boolean =>
  p.apply(id, [{ field: values.SHARED_FIELD, op: 'merge', put, drop }])

/** Writes an edit; a key that is not there, or was deleted, begins with it. */
export function write(p: Planning, shared: Shared, edit: values.Edit): Omit<Result, 'verb'> {
  const { id, key, entity } = shared
  if (!entity) {
    if (p.entity(id)) p.wipe(id)
    p.create(id)
    p.set(id, 'key', key)
  }
  const changed = apply(p, id, edit)
  if (!entity || changed) p.sign(id)
  return { id, kind: values.SHARED_KIND, name: key, created: !entity }
}

export const shareSet = defineVerb({
  name: 'share-set',
  about: 'shares a value under a key with every session; it is kept exactly as it is given',
  args: SHARE_ARGS,
  example: { key: 'current-phase', value: { phase: 'review', open: ['auth', 'docs'] } },
  plan: (p, { key, value }) => write(p, key, whole(p, key, value)),
})

export const shareAppend = defineVerb({
  name: 'share-append',
  about:
    'adds an item, or each item of a list, to the list shared under a key; what is in it already is not added again; concurrent appends are all kept',
  args: {
    ...SHARE_ARGS,
    value: sharedValue('an item, or a list of items (a list as an item stands in a list of its own)', {
      required: true,
    }),
  },
  example: { key: 'active-files', value: 'src/auth.ts' },
  plan(p, { key: shared, value }, report) {
    const edit = values.appendEdit(
      fieldOf(p, shared),
      values.ROOT_PATH,
      Array.isArray(value) ? value : [value],
      p.ctx.ms,
    )
    if (edit) return write(p, shared, edit)
    return report({
      field: 'key',
      message: `what is shared under "${shared.key}" is no list`,
      received: shown(shared.entity?.fields.value),
      accepted: 'a key that holds a list, or a new one',
      hint: 'share-merge adds to a map, share-set puts something else in its place',
    })
  },
})

export const shareMerge = defineVerb({
  name: 'share-merge',
  about:
    'merges a value into what is shared under a key: maps key by key to any depth, lists as unions, anything else takes the place of what was there',
  args: SHARE_ARGS,
  example: { key: 'team-notes', value: { auth: { state: 'working', files: ['src/auth.ts'] } } },
  plan: (p, { key, value }) => write(p, key, values.mergeEdit(fieldOf(p, key), values.ROOT_PATH, value, p.ctx.ms)),
})

/** An empty way would mean the whole key, which nobody asked to take out. */
const PATH = reading(
  texts('a key of the map, or the way to it; with item: the way to the list', { blank: true }),
  (_p, keys, field, report) => {
    if (keys.length > 0) return keys
    return report({ field, message: 'not a path', received: [], accepted: 'a key, or a list of keys' })
  },
)

export const shareDelete = defineVerb({
  name: 'share-delete',
  about:
    'takes a key out of the shared context; with item what equals it out of a list, with path a key out of a map; what others add at the same moment stays',
  args: { key: SHARED_THERE, item: sharedValue('an item of the list'), path: PATH, expectedVersion: VERSION },
  example: { key: 'current-phase', path: 'phase' },
  plan(p, { key: shared, item, path }, report) {
    const keys = path ?? []
    if (item === undefined && keys.length === 0) {
      p.remove(shared.id)
      return { id: shared.id, kind: shared.entity.kind, name: shared.key }
    }
    const field = fieldOf(p, shared)
    if (item !== undefined) {
      const edit = values.removeItemEdit(field, values.pathOf(keys), item)
      if (edit) return write(p, shared, edit)
      return report({
        field: 'item',
        message: `not in the list of "${[shared.key, ...keys].join('" → "')}"`,
        received: shown(item),
        accepted: JSON.stringify(shown(values.valueAt(field, values.pathOf(keys)) ?? null)),
      })
    }
    if (values.valueAt(field, values.pathOf(keys)) !== undefined)
      return write(p, shared, { put: [], drop: [values.pathOf(keys)] })
    reportMissing(values.valueAt(field, values.pathOf(keys.slice(0, -1))), keys, report)
    return undefined
  },
})

function reportMissing(map: Json | undefined, keys: readonly string[], report: Report): void {
  const there = isObject(map) ? Object.keys(map) : []
  report({
    field: 'path',
    message: 'nothing is there',
    received: [...keys],
    accepted: didYouMean(keys.at(-1)!, there, there.slice(0, 20).join(', ') || 'a key that is there'),
    ...(Array.isArray(map) ? { hint: 'an item of a list is named by its value: item' } : {}),
  })
}
