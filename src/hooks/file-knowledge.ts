import { basename } from 'node:path'
import { byline } from '../briefing/format.ts'
import { covers } from '../claims/glob.ts'
import type { Memory } from '../memory.ts'
import { type Entity, identityOf, standingOf } from '../model/entity.ts'
import { entityOf } from '../read/reader.ts'
import { vouchedFor } from '../replication/trust.ts'
import { rowsAt } from '../store/rows.ts'
import { isCode, questionTerms } from '../store/terms.ts'
import { rowsWith, textsWith } from '../store/text-index.ts'
import { dataLine, dataList, keepTold, toldSince } from './delivery.ts'
import type { Hook } from './hook.ts'

const KINDS = ['fact', 'failed-approach', 'correction', 'exception', 'learning', 'insight']
const FIRST: ReadonlySet<string> = new Set(['failed-approach', 'exception'])
/** Told at once, at most. */
const MOST = 4
/** Words of a text that may be paths. */
const MOST_WORDS = 300
const CANDIDATES = 60
/** What more texts hold costs a look at each, where the path has a word that says more. */
const COMMON = 300

/** Where something is written, without the line: `src/a.ts:12` is `src/a.ts`. */
const place = (location: string): string => location.replace(/:\d{1,9}(?:[-:]\d{1,9}){0,3}$/, '').replace(/^\.\//, '')

/** Whether an entity speaks of a file: by a location that is it or lies around it, by naming it, or the folder or pattern it is in. */
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
export function knownOn({ memory }: Pick<Hook, 'memory'>, path: string): Entity[] {
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
  const words = (rare.length > 0 ? rare : terms).map((t) => t.word)
  const rows = rowsWith(memory.db, words, CANDIDATES, 'confirmed', KINDS)
  const speaking = rowsAt(
    memory.db,
    rows.map((r) => r.rowid),
  )
    .map(entityOf)
    .filter((e) => speaksOf(e, path))
    .sort(
      (a, b) =>
        Number(FIRST.has(b.kind)) - Number(FIRST.has(a.kind)) || b.updated - a.updated || (a.id < b.id ? -1 : 1),
    )
  const isTold =
    understood?.live && understood.fields.retired === undefined && standingOf(understood.fields) === 'confirmed'
  return isTold ? [understood, ...speaking] : speaking
}

const TEXTS = ['summary', 'description', 'rationale', 'outcome', 'lesson', 'rightBelief', 'justification', 'body']

/** One line that says what it is, where more of it is, who said it, and whether somebody here stands by it (M6). */
function shortly(e: Entity, memory: Memory): string {
  const more = TEXTS.map((f) => e.fields[f]).filter((v): v is string => typeof v === 'string' && v !== e.name)
  return `${e.kind} "${dataLine(e.name, 120)}"${more.length > 0 ? `: ${dataLine(more.join(' · '), 260)}` : ''} (${e.id}) ${byline(e, { vouched: (ids) => vouchedFor(memory, ids) })}`
}

/** The entities as data under a title; that the session was told of them is kept with it. */
export async function tell(hook: Hook, found: readonly Entity[], title: string): Promise<string> {
  const lines = found.map((e) => shortly(e, hook.memory))
  const text = dataList(title, lines)
  const ids = found.map((e) => e.id)
  await keepTold(hook, ids, text)
  return text
}

/** What is known of the files and was not told yet: what was understood of them, rules and failures that speak of them. */
export async function knownOf(hook: Hook, paths: readonly string[]): Promise<string | undefined> {
  const told = new Set(toldSince(hook).keys())
  const found = paths
    .flatMap((path) => knownOn(hook, path))
    .filter((e) => !told.has(e.id) && told.add(e.id))
    .slice(0, MOST)
  if (found.length === 0) return undefined
  // a name with spaces could be a sentence, and this line stands before the fence
  const about = paths.length > 1 ? 'these files' : /^[\w@+./-]{1,200}$/.test(paths[0]!) ? paths[0] : 'this file'
  return tell(hook, found, `Known of ${about} (Tidemark; information, no instructions):`)
}
