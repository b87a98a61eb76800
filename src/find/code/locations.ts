import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Memory } from '../../engine/memory.ts'
import type { AnchorRow } from '../../engine/store/code-anchors.ts'
import * as code from '../../engine/store/code-anchors.ts'
import { getMeta, setMeta } from '../../engine/store/meta.ts'
import { cleanPath, type Entity, kindOf, pathInProject, standingOf } from '../../model/entity.ts'
import { fieldsOf } from '../../model/kind.ts'
import type { Registry } from '../../model/registry.ts'
import { isStatement } from '../../model/statement.ts'
import { locationOf, placesIn } from './location.ts'

/** Fields that say where in the code something is. */
function fieldsWithPaths(registry: Registry, kind: string): string[] {
  const spec = registry.kind(kind)
  return spec ? Object.entries(fieldsOf(spec)).flatMap(([name, f]) => (f.paths && !f.refs ? [name] : [])) : []
}

/** Where an entity says that it is in the code, as it is written there. */
function locationsOf(e: Entity, registry: Registry, root: string): string[] {
  if (!e.live || e.fields.retired !== undefined || standingOf(e.fields) === 'rejected') return []
  const stated = fieldsWithPaths(registry, e.kind).flatMap((name) => {
    const value = e.fields[name]
    return (Array.isArray(value) ? value : [value]).flatMap((v) => (typeof v === 'string' && v !== '' ? [v] : []))
  })
  return stated.length > 0 ? stated : locationsInWords(e, root)
}

/** Kinds that say in words of what in the code they speak; an order speaks of no state of it. */
const WORDED: Readonly<Record<string, readonly string[]>> = {
  ...{ decision: ['description'], learning: ['title', 'body'], fact: ['fact'], 'failed-approach': ['approach'] },
}

/** The symbols and lines that the words of an entity name. A file alone changes too often to say anything. */
function locationsInWords({ kind, fields }: Entity, root: string): string[] {
  const said = (WORDED[kind] ?? []).map((name) => fields[name]).filter((text) => typeof text === 'string')
  if (said.length === 0 || (kind === 'fact' && !said.some(isStatement))) return []
  const isFile = (path: string) => lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true
  return said.flatMap((text) => placesIn(text, isFile)).filter((place) => /#|:\d/.test(place))
}

/** Also what decides whether an entity counts at all. */
const DECIDING: ReadonlySet<string> = new Set(['$', 'retired', 'standing'])

/** So many events may pass by that concern no code until it is noted how far they were looked at. */
const LAG = 200

/** Notes the locations recorded since the last call for a work tree; returns those that are new here. */
export function noteLocations(memory: Memory, root: string): Set<string> {
  const { db, reader } = memory
  const since = getMeta(db, code.cursorKey(root))
  const to = memory.cursor
  const added = new Set<string>()
  if (since === String(to) || db.readOnly) return added
  const registry = reader.registry()
  const folded = Number(getMeta(db, 'compacted_n') ?? 0)
  const touched = new Map<string, boolean>()
  if (since === undefined || Number(since) < folded || Number(since) > to) {
    for (const kind of registry.visibleKinds())
      if (fieldsWithPaths(registry, kind.name).length > 0)
        for (const id of reader.ids(kind.name)) touched.set(id, false)
  } else
    for (const { events } of memory.newsSince(Number(since)))
      for (const { event } of events) {
        const kind = kindOf(event.entity)
        const isRead = kind === 'file' && event.field !== 'provenance'
        const isSaid = WORDED[kind]?.includes(event.field)
        if (isRead || isSaid || DECIDING.has(event.field) || fieldsWithPaths(registry, kind).includes(event.field))
          touched.set(event.entity, isRead)
      }
  if (touched.size === 0 && to - Number(since) < LAG) return added
  db.write(() => {
    for (const [id, isRead] of touched) {
      if (isRead) code.releaseAnchors(db, id)
      for (const row of reconciled(db, root, id, reader.entity(id), registry)) added.add(keyOf(row))
    }
    setMeta(db, code.cursorKey(root), String(to))
  })
  return added
}

export const keyOf = ({ entity, location }: Pick<AnchorRow, 'entity' | 'location'>): string => `${entity}\n${location}`

/** Brings the anchors of an entity in line with what it says; returns the new ones. */
function reconciled(
  db: Memory['db'],
  root: string,
  id: string,
  e: Entity | undefined,
  registry: Registry,
): AnchorRow[] {
  const wanted = new Set(e ? locationsOf(e, registry, root) : [])
  for (const row of code.anchorsOf(db, root, id)) if (!wanted.delete(row.location)) code.dropAnchor(db, root, row)
  return [...wanted].map((location) => {
    const { path, symbol = '', line = 0 } = locationOf(location)
    const inside = cleanPath(pathInProject(registry, path) ?? path)
    // another work tree may have seen the very text that it was said of
    const known = code.anchorElsewhere(db, id, location)
    const row = { entity: id, location, path: inside, symbol, line, hash: '', ...known, stale: null, since: null }
    code.keepAnchor(db, root, row)
    return row
  })
}
