import type { Memory } from '../../memory.ts'
import { canonical } from '../../model/canonical.ts'
import type { Entity } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import type { Kind } from '../../model/kind.ts'
import { foldText } from '../../model/names.ts'
import type { Change } from '../../model/validate.ts'

/** What this import wrote to an entity before: what the source said then, against which what it says now is held. */
export interface Before {
  /** The register's last value from this source; nothing if it never said one. */
  register(field: string): Json | undefined
  leaf(field: string, path: readonly string[]): Json | undefined
  /** The items of a set or list as this source left them. */
  items(field: string): string[]
}

/** Reads an entity's history for what one source wrote. */
export function beforeOf(memory: Memory, id: string, source: string): Before {
  const events = memory
    .history(id)
    .filter((e) => e.author?.source === source)
    .map((e) => e.event)
  const at = (path: readonly string[]) => canonical([...path])
  return {
    register: (field) => events.findLast((e) => e.field === field && e.op === 'set')?.value,
    leaf: (field, path) =>
      events.findLast((e) => e.field === field && e.op === 'put' && at(e.path ?? []) === at(path))?.value,
    items(field) {
      const items: string[] = []
      for (const e of events) {
        if (e.field !== field) continue
        const there = items.indexOf(String(e.value))
        if (e.op === 'add' && there === -1) items.push(String(e.value))
        if (e.op === 'remove' && there !== -1) items.splice(there, 1)
      }
      return items
    },
  }
}

const same = (a: Json | undefined, b: Json | undefined) =>
  a === undefined || b === undefined ? a === b : canonical(a) === canonical(b)

function leafOf(tree: Json | undefined, path: readonly string[]): Json | undefined {
  let node = tree
  for (const key of path) {
    if (node === null || typeof node !== 'object' || Array.isArray(node) || !Object.hasOwn(node, key)) return undefined
    node = node[key]
  }
  return node
}

/** The fields and paths that earlier items of the same run have stated: the first to say something holds. */
export type Stated = Set<string>

export interface Difference {
  /** The arguments that are still to be written. */
  args: { [field: string]: Json }
  /** What differs from the source because somebody changed it here; it stays. */
  kept: string[]
  /** What another item of the same source says differently. */
  contradicted: string[]
}

/**
 * What a source says that is not so yet. Three-way: where what is here differs but the source has not changed since
 * it was last read, somebody changed it here, and it stays.
 */
export function difference(
  kind: Kind,
  entity: Entity | undefined,
  changes: readonly Change[],
  before: () => Before,
  stated: Stated,
): Difference {
  const args: { [field: string]: Json } = {}
  const kept: string[] = []
  const contradicted: string[] = []
  /** Whether a single value is to be written; says why not. */
  const wanted = (name: string, now: Json | undefined, value: Json, last: () => Json | undefined): boolean => {
    const again = stated.has(name)
    stated.add(name)
    if (same(now, value)) return false
    if (again) contradicted.push(name)
    else if (entity && same(last(), value)) kept.push(name)
    else return true
    return false
  }
  for (const c of changes) {
    const now = entity?.fields[c.field]
    if (c.op === 'set') {
      const isKey = entity !== undefined && kind.key.includes(c.field) && now !== undefined
      if (isKey && kind.identity === 'name') continue // a name is changed by rename alone
      if (isKey && kind.identity === 'content' && foldText(String(now)) === foldText(String(c.value))) continue
      if (wanted(c.field, now, c.value, () => before().register(c.field))) args[c.field] = c.value
    } else if (c.op === 'edit') {
      const here = Array.isArray(now) ? now.map(String) : []
      if (c.replace) {
        const differs = c.list ? !same(here, c.add) : !same([...here].sort(), [...c.add].sort())
        const last = entity && differs ? before().items(c.field) : undefined
        if (differs && last && same(c.list ? last : [...last].sort(), c.list ? c.add : [...c.add].sort()))
          kept.push(c.field)
        else if (differs && !stated.has(c.field)) args[c.field] = { set: c.add }
        stated.add(c.field)
        continue
      }
      const missing = c.add.filter((item) => !here.includes(item))
      const given = entity && missing.length > 0 ? before().items(c.field) : []
      const add = missing.filter((item) => !given.includes(item))
      if (add.length < missing.length) kept.push(c.field)
      const remove = c.remove.filter((item) => here.includes(item))
      if (add.length + remove.length > 0) args[c.field] = remove.length > 0 ? { add, remove } : add
    } else if (c.op === 'merge') {
      for (const [path, value] of c.put) {
        const name = [c.field, ...path].join('.')
        if (wanted(name, leafOf(now, path), value, () => before().leaf(c.field, path)))
          args[c.field] = put((args[c.field] ?? {}) as { [key: string]: Json }, path, value)
      }
    }
  }
  return { args, kept, contradicted }
}

function put(tree: { [key: string]: Json }, path: readonly string[], value: Json): { [key: string]: Json } {
  const [key, ...rest] = path
  const inner = tree[key!]
  return {
    ...tree,
    [key!]:
      rest.length === 0
        ? value
        : put(inner !== null && typeof inner === 'object' && !Array.isArray(inner) ? inner : {}, rest, value),
  }
}
