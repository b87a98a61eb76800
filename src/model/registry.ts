/**
 * model: what can be recorded. Kinds and relations (`kinds/`, `relations.ts`), the types of their fields, validation,
 * names, ids. Everything else in Tidemark reads its rules from here.
 */

import { fieldsOf, type Kind } from './kind.ts'
import type { Relation } from './relation.ts'

export interface Registry {
  kind(name: string): Kind | undefined
  kindByPlural(plural: string): Kind | undefined
  relation(name: string): Relation | undefined
  kinds(): readonly Kind[]
  /** All but the internal ones. */
  visibleKinds(): readonly Kind[]
  relations(): readonly Relation[]
  /** The kind that `record-…` or an alias of it records. */
  recordedBy(verb: string): Kind | undefined
  deletedBy(verb: string): Kind | undefined
  /** `record-…`, its aliases and `delete-…` of every kind, in order. */
  derivedVerbs(): readonly string[]
  /** Where the project's files lie: the root, then its other work trees. Paths are kept relative to them. */
  roots(): readonly string[]
}

export function createRegistry(
  kinds: readonly Kind[],
  relations: readonly Relation[],
  roots: () => readonly string[] = () => [],
): Registry {
  const byName = new Map(kinds.map((k) => [k.name, k]))
  const byPlural = new Map(kinds.map((k) => [k.plural, k]))
  const byRelation = new Map(relations.map((r) => [r.name, r]))
  const records = new Map<string, Kind>()
  const deletes = new Map<string, Kind>()
  const visible = kinds.filter((k) => !k.internal)
  for (const kind of visible) {
    for (const verb of [`record-${kind.name}`, ...(kind.aliases ?? [])]) records.set(verb, kind)
    deletes.set(`delete-${kind.name}`, kind)
  }
  const derived = [...records.keys(), ...deletes.keys()]
  return {
    kind: (name) => byName.get(name),
    kindByPlural: (plural) => byPlural.get(plural),
    relation: (name) => byRelation.get(name),
    kinds: () => kinds,
    visibleKinds: () => visible,
    relations: () => relations,
    recordedBy: (verb) => records.get(verb),
    deletedBy: (verb) => deletes.get(verb),
    derivedVerbs: () => derived,
    roots,
  }
}

export function shapeOf(kind: Kind) {
  const { name, plural, positional } = kind
  return { kind: name, plural, positional: [...positional], fields: ['id', ...Object.keys(fieldsOf(kind))] }
}
