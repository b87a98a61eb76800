import { pathOf, removeItemEdit, valueAt } from '../../engine/log/context-value.ts'
import { defineVerb, reading } from '../../engine/write/verb.ts'
import { texts } from '../../model/args.ts'
import type { Json } from '../../model/field.ts'
import { didYouMean } from '../../model/names.ts'
import { isObject } from '../../model/object.ts'
import { type Report, shown } from '../../model/validate.ts'
import { fieldOf, SHARED_THERE, sharedValue, VERSION, write } from './shared-key.ts'

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
      const edit = removeItemEdit(field, pathOf(keys), item)
      if (edit) return write(p, shared, edit)
      return report({
        field: 'item',
        message: `not in the list of "${[shared.key, ...keys].join('" → "')}"`,
        received: shown(item),
        accepted: JSON.stringify(shown(valueAt(field, pathOf(keys)) ?? null)),
      })
    }
    if (valueAt(field, pathOf(keys)) !== undefined) return write(p, shared, { put: [], drop: [pathOf(keys)] })
    reportMissing(valueAt(field, pathOf(keys.slice(0, -1))), keys, report)
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
