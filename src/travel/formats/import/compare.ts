import type { Event } from '../../../engine/log/events.ts'
import type { Memory } from '../../../engine/memory.ts'
import { canonical } from '../../../model/canonical.ts'
import { type Entity, importedFrom } from '../../../model/entity.ts'
import type { Json } from '../../../model/field.ts'
import type { Kind } from '../../../model/kind.ts'
import { foldText } from '../../../model/names.ts'
import type { JsonObject } from '../../../model/object.ts'
import type { Change } from '../../../model/validate.ts'
import { asList, leafOf, withLeaf } from './json-values.ts'

/** What one source wrote to an entity before, against which what it says now is held. The history is read at the first question. */
export function beforeOf(memory: Memory, id: string, source: string) {
  let read: Event[] | undefined
  const events = () =>
    (read ??= memory.history(id).flatMap(({ author, event }) => (author?.source === source ? [event] : [])))
  return {
    register: (field: string) => events().findLast((e) => e.field === field && e.op === 'set')?.value,
    leaf: (field: string, path: string[]) =>
      events().findLast((e) => e.field === field && e.op === 'put' && same([...(e.path ?? [])], path))?.value,
    /** Whether the register's value is that of another import: two files may say it with other words beside it. */
    isOfOther: (field: string) =>
      importedFrom(memory.history(id).findLast(({ event }) => event.field === field)?.author?.source) !== undefined,
    /** The items of a set or list as this source left them. */
    items(field: string) {
      const items = new Set<string>()
      for (const e of events()) {
        if (e.field !== field) continue
        if (e.op === 'add') items.add(String(e.value))
        if (e.op === 'remove') items.delete(String(e.value))
      }
      return [...items]
    },
  }
}

const same = (a: Json | undefined, b: Json | undefined) =>
  a === undefined || b === undefined ? a === b : canonical(a) === canonical(b)

/** The fields and paths that earlier items of the same run have stated: the first to say something holds. */
export type Stated = Set<string>

/** What a source says that is not so yet. `kept`: changed here, while the source is as it was when last read. */
export function difference(
  kind: Kind,
  entity: Entity | undefined,
  changes: readonly Change[],
  before: ReturnType<typeof beforeOf>,
  stated: Stated,
) {
  const args: JsonObject = {}
  const kept: string[] = []
  const contradicted: string[] = []
  /** Whether a value is to be written; notes why not. */
  const wanted = (name: string, now: Json | undefined, value: Json, last: () => Json | undefined): boolean => {
    const again = stated.has(name)
    stated.add(name)
    if (same(now, value)) return false
    if (again) contradicted.push(name)
    else if (entity && same(last(), value)) {
      if (!before.isOfOther(name)) kept.push(name)
    } else return true
    return false
  }
  for (const c of changes) {
    const { field } = c
    const now = entity?.fields[field]
    if (c.op === 'set') {
      if (!isSameKey(kind, field, now, c.value) && wanted(field, now, c.value, () => before.register(field)))
        args[field] = c.value
    } else if (c.op === 'edit' && c.replace) {
      const ordered = (items: readonly string[]) => (c.list ? [...items] : [...items].sort())
      if (wanted(field, ordered(asList(now)), ordered(c.add), () => ordered(before.items(field))))
        args[field] = { set: c.add }
    } else if (c.op === 'edit') {
      const here = asList(now)
      const missing = c.add.filter((item) => !here.includes(item))
      const given = entity && missing.length > 0 ? before.items(field) : []
      const add = missing.filter((item) => !given.includes(item))
      if (add.length < missing.length) kept.push(field)
      const remove = c.remove.filter((item) => here.includes(item))
      if (add.length + remove.length > 0) args[field] = remove.length > 0 ? { add, remove } : add
    } else if (c.op === 'merge') {
      for (const [path, value] of c.put)
        if (wanted([field, ...path].join('.'), leafOf(now, path), value, () => before.leaf(field, path)))
          args[field] = withLeaf(args[field], path, value)
    }
  }
  return { args, kept, contradicted }
}

/** A name is changed by rename alone; of a content, white space and case do not count. */
const isSameKey = (kind: Kind, field: string, now: Json | undefined, value: Json): boolean =>
  now !== undefined &&
  kind.key.includes(field) &&
  (kind.identity === 'name' || (kind.identity === 'content' && foldText(String(now)) === foldText(String(value))))
