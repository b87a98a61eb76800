import { isAbsolute } from 'node:path'
import type { Entity } from '../../model/entity.ts'
import { absoluteIds, cleanPath, identityOf, LINK_KIND, nameKey, pathInProject } from '../../model/entity.ts'
import type { Kind } from '../../model/kind.ts'
import { slug } from '../../model/names.ts'
import type { Registry } from '../../model/registry.ts'
import { idsOfShort } from './short-references.ts'

export interface Lookup {
  registry(): Registry
  entity(id: string): Entity | undefined
  /** Entities called so, deleted ones too; the argument is folded. */
  byName(nameKey: string): Entity[]
  allIds(): readonly string[]
}

/** Everything a reference could mean: an id, `kind:name`, a path, a name, `#a3f`. Live entities and present names come first. */
export function candidates(lookup: Lookup, ref: string): Entity[] {
  const exact = lookup.entity(ref)
  if (exact) return [exact]
  const named = (said: string, only?: Kind): Entity[] => {
    const name = isAbsolute(said) ? (pathInProject(lookup.registry(), said) ?? said) : said
    const found = new Map<string, Entity>()
    const consider = (e: Entity | undefined) => {
      if (e && e.kind !== LINK_KIND && (!only || e.kind === only.name)) found.set(e.id, e)
    }
    const key = nameKey(name)
    for (const k of only ? [only] : lookup.registry().kinds()) {
      if (k.identity === 'name' || only) {
        const id = identityOf(k, { [k.key[0]]: name })
        if (id) consider(lookup.entity(id))
        if (k.name === 'file' && found.size === 0)
          for (const old of absoluteIds(lookup.registry(), name)) consider(lookup.entity(old))
      }
      // a name, or the id that was made of one
      for (const id of new Set([slug(name), name])) consider(lookup.entity(`${k.name}:${id}`))
    }
    for (const e of lookup.byName(key)) consider(e)
    const all = [...found.values()]
    const live = all.filter((e) => e.live)
    const chosen = live.length > 0 ? live : all
    const now = chosen.filter((e) => nameKey(e.name) === key)
    // paths are found whatever their case, but the very path is meant before one that differs by case
    const exact = now.filter((e) => e.kind !== 'file' || e.name === cleanPath(name))
    return exact.length > 0 ? exact : now.length > 0 ? now : chosen
  }
  const colon = ref.indexOf(':')
  const kind = colon > 0 ? lookup.registry().kind(ref.slice(0, colon)) : undefined
  if (kind) {
    const inKind = named(ref.slice(colon + 1), kind)
    if (inKind.length > 0) return inKind
  }
  const called = named(ref)
  if (called.length > 0) return called
  return idsOfShort(ref, () => lookup.allIds()).flatMap((id) => lookup.entity(id) ?? [])
}
