import type { Entity } from '../../model/entity.ts'
import { isWork, WORK_KINDS, type WorkKind } from '../../model/work-kinds.ts'
import type { Reader } from './reader.ts'

/** Where a session stands: what it works on and what that belongs to. */
export type Place = { readonly [K in WorkKind]?: string }

export const isOpen = (e: Entity | undefined): boolean => e?.live === true && (e.fields.state ?? 'open') === 'open'

/** The part of a kept path that is still open, from the root down. */
export function placeOn(path: readonly string[], entity: (id: string) => Entity | undefined): Place {
  const place: { [K in WorkKind]?: string } = {}
  for (const id of path) {
    const e = entity(id)
    if (!isOpen(e)) break
    if (isWork(e!.kind)) place[e!.kind] = id
  }
  return place
}

/** The path down to one of the work tree, itself included. */
export function pathTo(e: Entity, find: (ref: string, kind: WorkKind) => Entity | undefined): string[] {
  const up = parentOf(e, find)
  return up ? [...pathTo(up, find), e.id] : [e.id]
}

export function parentOf(e: Entity, find: (ref: string, kind: WorkKind) => Entity | undefined): Entity | undefined {
  if (e.kind === 'goal') return undefined
  const { activity, goal } = e.fields
  const above = e.kind === 'task' && typeof activity === 'string' ? find(activity, 'activity') : undefined
  return above ?? (typeof goal === 'string' ? find(goal, 'goal') : undefined)
}

/** One of the work tree with what is below it, oldest first. */
export interface WorkNode {
  readonly entity: Entity
  readonly kind: WorkKind
  readonly state: string
  readonly parent: WorkNode | undefined
  readonly children: WorkNode[]
  /** Open tasks that it waits for. */
  readonly blockedBy: readonly Entity[]
}

const oldestFirst = (a: Entity, b: Entity) => a.created - b.created || (a.id < b.id ? -1 : 1)

/** The whole work tree: goals, and what belongs to none, oldest first. */
export function workTree(reader: Reader): WorkNode[] {
  const entities = WORK_KINDS.flatMap((kind) => reader.list(kind).sort(oldestFirst))
  const byId = new Map(entities.map((e) => [e.id, e]))
  const find = (ref: string, kind: WorkKind): Entity | undefined => {
    const there = byId.get(ref)
    if (there) return there.kind === kind ? there : undefined
    const called = reader.find(ref).filter((e) => e.kind === kind && byId.has(e.id))
    return called.length === 1 ? called[0] : undefined
  }
  const nodes = new Map<string, WorkNode>()
  const roots: WorkNode[] = []
  // goals come before activities, and those before tasks: what it belongs to is there already
  for (const entity of entities) {
    const parent = nodes.get(parentOf(entity, find)?.id ?? '')
    const state = String(entity.fields.state ?? 'open')
    const blockedBy = entity.kind === 'task' && state === 'open' ? blockersOf(reader, entity.id) : []
    const node: WorkNode = { entity, kind: entity.kind as WorkKind, state, parent, children: [], blockedBy }
    nodes.set(entity.id, node)
    ;(parent?.children ?? roots).push(node)
  }
  return roots
}

/** The open tasks that stand before a task; a link that is only proposed holds nothing up. */
const blockersOf = (reader: Reader, id: string): Entity[] =>
  reader
    .links('from', id)
    .filter((l) => l.type === 'blocked-by' && (l.entity.fields.standing ?? 'confirmed') === 'confirmed')
    .flatMap((l) => reader.entity(l.to) ?? [])
    .filter((e) => isOpen(e) && e.fields.retired === undefined)
    .sort(oldestFirst)

export const withBelow = (node: WorkNode): WorkNode[] => [node, ...node.children.flatMap(withBelow)]

/** Open, as is everything that it belongs to. */
export const isToDo = (node: WorkNode): boolean =>
  node.state === 'open' && (node.parent === undefined || isToDo(node.parent))
