import { keptIn } from '../../base/lookup.ts'
import { canonical } from '../../model/canonical.ts'
import { type Entity, LINK_KIND, standingOf } from '../../model/entity.ts'
import type { Json } from '../../model/field.ts'
import { cut } from '../../model/text.ts'
import { calledAs } from '../read/called.ts'
import { entityOf } from '../read/reader.ts'
import type { Db } from '../store/db.ts'
import * as heldRows from '../store/held.ts'
import { handleOf } from '../store/keys.ts'
import { isTombstone, tombstoneOf } from '../store/line.ts'
import { entitiesOf, headerOf } from '../store/log.ts'
import { getRow } from '../store/rows.ts'
import { BESIDE } from './vouched.ts'

/** A change that others want and that waits for a yes here. */
export interface Waiting {
  /** As it holds here. */
  readonly entity: Entity
  /** Who wants it, as their line says: nobody has checked the name. */
  readonly by: string
  /** What they want, as it follows their name. */
  readonly wants: string
  /** Whose place it would give to another: the id of that. */
  readonly instead?: string
}

/** So many of one author are told, and how many more there are. */
const MOST_OF_ONE = 5
const MOST_READ = 2_000

/** What waits, the newest first. `more`: of those who want much, how much of it is not among them. */
export function waitingChanges(db: Db): { all: Waiting[]; more: ReadonlyMap<string, number> } {
  const all: Waiting[] = []
  const counts = new Map<string, number>()
  const names = new Map<string, string>()
  const tell = (by: string, make: () => Waiting | undefined) => {
    const told = make()
    const n = (counts.get(by) ?? 0) + (told ? 1 : 0)
    if (told && n <= MOST_OF_ONE) all.push(told)
    counts.set(by, n)
  }
  for (const [id, by] of heldRows.isAnyAsked(db) ? erasuresAsked(db) : []) tell(by, () => erasureOf(db, id, by))
  for (const held of heldRows.isAnyHeld(db) ? heldRows.allHeld(db, MOST_READ) : []) {
    if (held.lines.length === 0 && !held.frozen) continue
    const last = held.lines.at(-1)
    const by = keptIn(names, `${last?.replica}:${last?.seq}`, () => authorOf(db, last))
    tell(by, () => waitingOf(db, held, by))
  }
  const more = [...counts].flatMap(([by, n]) => (n > MOST_OF_ONE ? [[by, n - MOST_OF_ONE] as const] : []))
  return { all, more: new Map(more) }
}

export function countWaiting(db: Db): number {
  const { all, more } = waitingChanges(db)
  return all.length + [...more.values()].reduce((sum, n) => sum + n, 0)
}

export function waitingAt(db: Db, id: string): Waiting[] {
  const askers = new Set(heldRows.askedOf(db, id).map((a) => authorOf(db, lineNamed(a.by))))
  return [
    ...[...askers].flatMap((by) => erasureOf(db, id, by) ?? []),
    ...heldRows.heldInto(db, id).flatMap((held) => waitingOf(db, held, authorOf(db, held.lines.at(-1))) ?? []),
  ]
}

const lineNamed = (batch: string): heldRows.LineName | undefined => {
  const [replica = '', seq] = batch.split(':')
  return batch === '' ? undefined : { replica, seq: Number(seq) }
}

/** Entities that somebody asks to erase, each with who asks. */
function erasuresAsked(db: Db): Map<string, string> {
  const found = new Map<string, string>()
  const names = new Map<string, string>()
  for (const { replica, seq, entity, by } of heldRows.someAsked(db, MOST_READ)) {
    const name = keptIn(names, by, () => authorOf(db, lineNamed(by)))
    const isMeant = (id: string) => id === entity || (isTombstone(entity) && tombstoneOf(id) === entity)
    for (const id of entitiesOf(db, replica, seq).filter(isMeant)) found.set(id, name)
  }
  return found
}

function erasureOf(db: Db, id: string, by: string): Waiting | undefined {
  const here = getRow(db.here, id)
  const row = here ?? getRow(db, id)
  return row && { entity: entityOf(row), by, wants: `asks to erase it${here ? '' : '; until you decide it is hidden'}` }
}

/** What somebody who wants much is told by. */
export const sayMore = (by: string, n: number): string =>
  `${by}, unverified, wants ${n} more ${n === 1 ? 'change' : 'changes'}`

function authorOf(db: Db, last: heldRows.LineName | undefined): string {
  if (!last) return 'somebody'
  const { user, agent } = headerOf(db, `${last.replica}:${last.seq}`)?.line.author ?? {}
  return user ?? agent ?? `replica ${handleOf(last.replica)}`
}

function waitingOf(db: Db, held: heldRows.Held, by: string): Waiting | undefined {
  const row = getRow(db, held.id)
  const wanted = row && entityOf(row)
  const here = held.row && entityOf(held.row)
  if (held.id.startsWith(`${LINK_KIND}:`)) {
    const { from, to } = (wanted ?? here)?.fields ?? {}
    const end = typeof to === 'string' ? getRow(db.here, to) : undefined
    if (!end || typeof from !== 'string') return undefined
    const other = getRow(db, from)
    const rule = other && entityOf(other)
    const stands = rule?.live && rule.fields.retired === undefined
    const named = `${rule ? `"${cut(calledAs(rule), LONGEST)}" (${from})` : from}${stands ? '' : ', which is gone,'}`
    const wants = wanted?.live ? `says that ${named} takes its place` : `takes back that ${named} took its place`
    return { entity: entityOf(end), by, wants, ...(wanted?.live && stands ? { instead: from } : {}) }
  }
  const entity = here ?? wanted
  const wants = held.frozen === 'erased' ? 'erased it' : wantsOf(here, wanted)
  return entity && wants !== undefined ? { entity, by, wants } : undefined
}

const LONGEST = 160
const shown = (value: Json | undefined): string => cut(JSON.stringify(value) ?? 'nothing', LONGEST)

/** Nothing where they only agree to what binds here already. */
function wantsOf(here: Entity | undefined, wanted: Entity | undefined): string | undefined {
  if (!wanted?.live) return 'wants to delete it'
  const [now, then] = [here?.fields ?? {}, wanted.fields]
  if (!here?.live) return 'wants it back'
  const changed = (field: string) => canonical(now[field] ?? null) !== canonical(then[field] ?? null)
  const parts: string[] = []
  if (changed('retired'))
    parts.push(then.retired === undefined ? 'wants it back' : `wants to retire it: ${shown(then.retired)}`)
  const agrees = standingOf(now) === standingOf(then)
  if (changed('standing') && !agrees) parts.push(`wants it ${String(then.standing ?? 'confirmed')}`)
  const fields = [...new Set([...Object.keys(now), ...Object.keys(then)])].filter(
    (f) => changed(f) && !BESIDE.has(f) && f !== 'retired' && f !== 'standing',
  )
  if (fields.length > 0) {
    const said = fields.slice(0, 3).map((f) => `${f} ${shown(then[f])}`)
    parts.push(`says otherwise: ${said.join(', ')}${fields.length > 3 ? ` and ${fields.length - 3} more` : ''}`)
  }
  return parts.join('; ') || (changed('standing') && agrees ? undefined : 'says otherwise')
}
