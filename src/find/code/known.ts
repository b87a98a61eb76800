import { basename } from 'node:path'
import { covers, tidyPath } from '../../engine/claims/glob.ts'
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

const placesOf = ({ fields: { locations, location } }: Entity): string[] =>
  [...(Array.isArray(locations) ? locations : []), location].flatMap((l) => (typeof l === 'string' ? place(l) : []))

/** Whether a place is a file, or lies around it. `isClose`: as its folder or a pattern, not as all of an app. */
const isAt = (places: readonly string[], path: string, isClose = false): boolean =>
  places.some(
    (p) =>
      p !== '.' &&
      covers(p, path) &&
      (!isClose || p.includes('*') || p === path || !path.slice(p.length + 1).includes('/')),
  )

/** Whether an entity speaks of a file: by a location that is it or lies around it, by naming it, or the folder or pattern it is in. */
export function speakerOf(e: Entity, isClose = false): (path: string) => boolean {
  const { paths } = e.fields
  if (Array.isArray(paths)) return (path) => paths.some((glob) => typeof glob === 'string' && covers(glob, path))
  const places = placesOf(e)
  const texts = Object.entries(e.fields).filter(([name]) => name !== 'provenance' && name !== 'locations')
  const said = texts.map(([, v]) => (typeof v === 'string' ? v : JSON.stringify(v))).join('\n')
  const around = places.length > 0 ? [] : foldersIn(said) // where it belongs was said
  return (path) => {
    const name = basename(path)
    const isNamed = standsIn(said, path, path.length > name.length && name.split('.').length < 2 ? path : name)
    return isNamed || isAt([...places, ...around], path, isClose)
  }
}

/** Folders and patterns that a text names: `src/generated`, `*.gen.ts`. */
const foldersIn = (text: string): string[] =>
  text
    .split(/[\s"'`()[\],;|]/)
    .slice(0, MOST_WORDS)
    .map((word) => place(word.replace(/[.:!?]$/, '')))
    .filter((word) => /^[^/].*\/|\*\.\w/.test(word) && word.length < 200 && !word.includes('://'))

/** Whether a text holds the name of a file that is no part of a longer one, nor the end of another file's path. */
function standsIn(text: string, path: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const end = at + name.length
    if (/[\w.-]/.test(text.charAt(at - 1)) || /[\w-]/.test(text.charAt(end))) continue
    if (path.includes('/') && text.slice(0, end).endsWith(path)) return true
    let from = at
    while (/[^\s"'`()[\],;|*:]/.test(text.charAt(from - 1))) from--
    const said = tidyPath(text.slice(from, end).replace(/^@/, ''))
    if (said === undefined || `/${path}`.endsWith(`/${said}`) || /\.\w+\/[^/]+$/.test(said)) return true
  }
  return false
}

/**
 * Of it all: what has its place in a file that was named as people do, by its name or the end of its path on any machine.
 * Nothing where several files are called so.
 */
export function placedIn({ memory }: { memory: Memory }, named: string, mayTell: (path: string) => boolean): Entity[] {
  const isSame = (a: string, b: string) => a === b || a.endsWith(`/${b}`)
  const isNamed = (p: string) => isSame(p, named) || isSame(named, p)
  const words = questionTerms(basename(named)).map((t) => t.word)
  const rows = rowsWith(memory.db.here, words, CANDIDATES, 'confirmed', [...KINDS, ...LOCATED]).map((r) => r.rowid)
  const found = rowsAt(memory.db.here, rows)
    .map(entityOf)
    .filter((e) => placesOf(e).some(isNamed))
  const files = new Set(found.flatMap((e) => placesOf(e).filter(isNamed)))
  return files.size === 1 && [...files].every(mayTell) ? found.sort(byUse) : []
}

/** Failed approaches first, then the newest. */
const byUse = (a: Entity, b: Entity): number =>
  Number(FIRST.has(b.kind)) - Number(FIRST.has(a.kind)) || b.updated - a.updated || (a.id < b.id ? -1 : 1)

/**
 * What somebody understood of the file, then confirmed rules and the like that speak of it; failed approaches first. `isClose`:
 * of what lies around it rules alone, but for its own folder.
 */
export function knownOn(
  { memory }: { memory: Memory },
  path: string,
  kinds: readonly string[] = KINDS,
  isClose = false,
): Entity[] {
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
  const rows = rowsWith(here, words, CANDIDATES, 'confirmed', [...kinds, ...located]).map((r) => r.rowid)
  const speaking = rowsAt(here, rows)
    .map(entityOf)
    .filter((e) =>
      located.includes(e.kind) ? isAt(placesOf(e), path, isClose) : speakerOf(e, isClose && e.kind !== 'fact')(path),
    )
    .sort(byUse)
  const isTold =
    understood?.live && understood.fields.retired === undefined && standingOf(understood.fields) === 'confirmed'
  return isTold ? [understood, ...speaking] : speaking
}
