import { basename } from 'node:path'
import { covers } from '../../engine/claims/glob.ts'
import type { Memory } from '../../engine/memory.ts'
import { entityOf } from '../../engine/read/reader.ts'
import { rowsAt } from '../../engine/store/rows.ts'
import { isCode, questionTerms } from '../../engine/store/terms.ts'
import { rowsWith, textsWith } from '../../engine/store/text-index.ts'
import { type Entity, identityOf, standingOf } from '../../model/entity.ts'
import { locationOf } from './location.ts'

const KINDS = ['fact', 'failed-approach', 'correction', 'exception', 'learning', 'insight']
/** What is told where its own place is it, or lies around it. */
const LOCATED = ['decision', 'principle', 'pattern']
const FIRST: ReadonlySet<string> = new Set(['failed-approach', 'exception'])
/** Words of a text that may be paths. */
const MOST_WORDS = 300
const CANDIDATES = 60
/** What more texts hold costs a look at each, where the path has a word that says more. */
const COMMON = 300

const place = (location: string): string => locationOf(location).path

/** Whether a location of an entity is a file, or lies around it. */
function isAt({ fields: { locations, location } }: Entity, path: string): boolean {
  const all = [...(Array.isArray(locations) ? locations : []), location]
  return all.some((l) => typeof l === 'string' && place(l) !== '.' && covers(place(l), path))
}

/** Whether an entity speaks of a file: by a location that is it or lies around it, by naming it, or the folder or pattern it is in. */
export function speaksOf(e: Entity, path: string): boolean {
  const { paths } = e.fields
  if (Array.isArray(paths)) return paths.some((glob) => typeof glob === 'string' && covers(glob, path))
  if (isAt(e, path)) return true
  const texts = Object.entries(e.fields).filter(([name]) => name !== 'provenance' && name !== 'locations')
  const said = texts.map(([, v]) => (typeof v === 'string' ? v : JSON.stringify(v))).join('\n')
  const name = basename(path)
  return standsIn(said, path.length > name.length && name.split('.').length < 2 ? path : name) || isBelow(said, path)
}

/** Whether a text names a folder or pattern that the file lies in: `src/generated`, `*.gen.ts`. */
const isBelow = (text: string, path: string): boolean =>
  text
    .split(/[\s"'`()[\],;|]/)
    .slice(0, MOST_WORDS)
    .map((word) => place(word.replace(/[.:!?]$/, '')))
    .some((word) => /^[^/].*\/|\*\.\w/.test(word) && word.length < 200 && !word.includes('://') && covers(word, path))

/** Whether a text holds a name that is no part of a longer one. */
function standsIn(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
    if (!/[\w.-]/.test(text.charAt(at - 1)) && !/[\w-]/.test(text.charAt(at + name.length))) return true
  return false
}

/** What somebody understood of the file, then confirmed rules and the like that speak of it; failed approaches first. */
export function knownOn({ memory }: { memory: Memory }, path: string, kinds: readonly string[] = KINDS): Entity[] {
  const understood = memory.reader.entity(identityOf(memory.registry().kind('file')!, { path }) ?? '')
  const folders = path
    .split('/')
    .slice(0, -1)
    .map((_, i, all) => all.slice(0, i + 1).join('/'))
  const terms = questionTerms([path, ...folders].join(' '))
  const rare = terms.filter((t) => {
    const count = textsWith(memory.db, t.stem)
    return count <= COMMON && (count > 0 || !isCode(t.word))
  })
  const { here } = memory.db
  const words = (rare.length > 0 ? rare : terms).map((t) => t.word)
  const located = LOCATED.filter((kind) => !kinds.includes(kind))
  const rows = rowsWith(here, words, CANDIDATES, 'confirmed', [...kinds, ...located])
  const speaking = rowsAt(
    here,
    rows.map((r) => r.rowid),
  )
    .map(entityOf)
    .filter((e) => (located.includes(e.kind) ? isAt(e, path) : speaksOf(e, path)))
    .sort(
      (a, b) =>
        Number(FIRST.has(b.kind)) - Number(FIRST.has(a.kind)) || b.updated - a.updated || (a.id < b.id ? -1 : 1),
    )
  const isTold =
    understood?.live && understood.fields.retired === undefined && standingOf(understood.fields) === 'confirmed'
  return isTold ? [understood, ...speaking] : speaking
}
