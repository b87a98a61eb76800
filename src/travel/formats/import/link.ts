import type { Action } from '../../../engine/write/batch.ts'
import { type Entity, LINK_KIND, linkId } from '../../../model/entity.ts'
import { defined, type JsonObject } from '../../../model/object.ts'
import type { ImportRun } from './import-run.ts'
import type { Unit } from './queue.ts'
import { check, compare, retirement } from './record.ts'
import { shown } from './report.ts'
import type { Item } from './types.ts'

/** `supersede` and `link-entities` in one form. */
function linkSaid({ verb, args }: Item): JsonObject {
  if (verb !== 'supersede') return args as JsonObject
  const { old, new: next, ...rest } = args
  return { ...rest, from: next!, to: old!, type: 'supersedes' } as JsonObject
}

export function link(state: ImportRun, item: Item): Unit | undefined {
  const { from: source, to: target, type: named, ...said } = linkSaid(item)
  const type = String(named)
  const end = (ref: unknown): Entity | undefined => {
    const found = entitiesBy(state, String(ref))
    if (found.length === 1) return found[0]
    const why = found.length === 0 ? 'is not there' : 'means several things'
    return state.leaveOut(item, `${type}: ${source} → ${target}`, `"${shown(String(ref))}" ${why}`)
  }
  const from = end(source)
  const to = from && end(target)
  if (!from || !to) return undefined
  const what = `${type}: ${from.name} → ${to.name}`
  const relation = state.registry.relation(type)
  if (!relation) return state.leaveOut(item, what, `there is no relation "${type}"`)
  if (from.id === to.id) return state.leaveOut(item, what, 'an entity is not linked to itself')
  const [a, b] = relation.symmetric && to.id < from.id ? [to.id, from.id] : [from.id, to.id]
  const id = linkId(a, type, b)
  if (state.queue.holds(id)) state.queue.flush()
  const there = state.reader.entity(id)
  if (there && !there.live) return state.keep(item, what, 'unlinked here')
  const unit = (actions: readonly Action[]) => ({ item, actions, kind: 'link', created: !there, id })
  if (item.verb === 'supersede')
    return there ? state.unchanged('link') : unit([['supersede', defined({ old: b, new: a, reason: said.reason })]])
  const kind = state.registry.kind(LINK_KIND)!
  const checked = check(state, item, kind, said)
  if (!checked) return undefined
  const args = compare(state, item, kind, id, there, checked.changes, what)
  const actions: Action[] = []
  if (!there || Object.keys(args).length > 0) actions.push(['link-entities', { from: a, to: b, type, ...args }])
  if (there) actions.push(...retirement(state, item, there, what))
  else if (item.retired !== undefined) actions.push(['retire', { ref: id, reason: item.retired }])
  return actions.length > 0 ? unit(actions) : state.unchanged('link')
}

/** What a reference means: an item of this source by its name, else what is known by it. */
function entitiesBy(state: ImportRun, ref: string): Entity[] {
  const { reader, queue } = state
  if (!state.isKnown(ref) && !queue.isEmpty && reader.find(ref).length !== 1) queue.flush()
  return state.isKnown(ref) ? [reader.entity(state.idOf(ref))!] : reader.find(ref)
}
