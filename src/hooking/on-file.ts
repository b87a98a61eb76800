import { basename } from 'node:path'
import type { Entity } from '../memory/entity.ts'
import { covers } from '../memory/overlap.ts'
import { entityOf } from '../memory/read.ts'
import { rowsAt } from '../store/rows.ts'
import { rowsWith, textsWith } from '../store/texts.ts'
import { isCode, questionTerms } from '../store/words.ts'
import type { Hook } from './hook.ts'

const KINDS = ['fact', 'failed-approach', 'correction', 'exception']
const CANDIDATES = 60
/** What more texts hold costs a look at each, where the path has a word that says more. */
const COMMON = 300

/** Where something is written, without the line: `src/a.ts:12` is `src/a.ts`. */
const place = (location: string): string => location.replace(/:\d{1,9}(?:[-:]\d{1,9}){0,3}$/, '').replace(/^\.\//, '')

/** Whether an entity speaks of a file: by a location that is it or lies around it, or by naming it. */
function speaksOf(e: Entity, path: string): boolean {
  const { locations } = e.fields
  if (
    Array.isArray(locations) &&
    locations.some((l) => typeof l === 'string' && place(l) !== '.' && covers(place(l), path))
  )
    return true
  const texts = Object.entries(e.fields).filter(([name]) => name !== 'provenance' && name !== 'locations')
  const said = texts.map(([, v]) => (typeof v === 'string' ? v : JSON.stringify(v))).join('\n')
  const name = basename(path)
  return standsIn(said, path.length > name.length && name.split('.').length < 2 ? path : name)
}

/** Whether a text holds a name that is no part of a longer one. */
function standsIn(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!/[\w.-]/.test(text.charAt(at - 1)) && !/[\w-]/.test(text.charAt(at + name.length))) return true
  return false
}

/** Confirmed rules, failed approaches, corrections and exceptions that speak of a file; failed approaches first. */
export function knownOn({ memory }: Pick<Hook, 'memory'>, path: string): Entity[] {
  const terms = questionTerms(path)
  const rare = terms.filter((t) => {
    const count = textsWith(memory.db, t.stem)
    return count <= COMMON && (count > 0 || !isCode(t.word))
  })
  const words = (rare.length > 0 ? rare : terms).map((t) => t.word)
  const rows = rowsWith(memory.db, words, CANDIDATES, 'confirmed', KINDS)
  return rowsAt(
    memory.db,
    rows.map((r) => r.rowid),
  )
    .map(entityOf)
    .filter((e) => speaksOf(e, path))
    .sort(
      (a, b) =>
        (KINDS.indexOf(b.kind) % 2) - (KINDS.indexOf(a.kind) % 2) || b.updated - a.updated || (a.id < b.id ? -1 : 1),
    )
}
