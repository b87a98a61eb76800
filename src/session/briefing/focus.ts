import type { Memory } from '../../engine/memory.ts'
import { hashOf, questionTerms, type Term } from '../../engine/store/terms.ts'
import { rowsWith, textRows, textsWith } from '../../engine/store/text-index.ts'
import { areApart, cleanPath, type Entity, isOfFile, provenanceOf } from '../../model/entity.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'

/** What the work at hand is about, as far as that is known without asking git. */
export interface Focus {
  readonly branch: string | undefined
  /** Where in the repository the session began; nothing for the whole of it. */
  readonly folder: string | undefined
  readonly files: readonly string[]
  readonly work: readonly Entity[]
  readonly terms: readonly Term[]
  /** Whether the work itself says what it is about: by its own files, a goal or the name of its branch. */
  readonly isKnown: boolean
}

const FILES = 20
const WORDS = 10
/** Words of a branch name that say nothing of the work. */
const OF_BRANCHES = new Set(['feature', 'feat', 'fix', 'bugfix', 'hotfix', 'main', 'master', 'develop', 'dev', 'release', 'chore', 'wip']) // biome-ignore format: a list

/** Words are looked for, the rarest first, as long as no more texts hold them: each text costs a look. */
const TEXTS = 300

/** What a session works on; without one, what the sessions last seen on the branch did. */
export function focusOf(memory: Memory, session: string | undefined, branch: string | undefined): Focus {
  const sessions = sessionsOf(memory)
  const own = session === undefined ? undefined : sessions.get(session)
  const others = sessions
    .list({ all: true })
    .filter((s) => s.id !== session && (s.branch ?? branch) === branch && !areApart(s.folder, own?.folder))
  const files = new Set<string>()
  for (const s of [...(own ? [own] : []), ...others.slice(0, 3)])
    for (const f of [...s.files].reverse()) if (files.size < FILES) files.add(cleanPath(f))
  const places = [session, own?.id, others[0]?.id].map((id) => memory.place(id))
  const place = places.find((at) => at.goal ?? at.activity ?? at.task)
  const work = [place?.task, place?.activity, place?.goal].flatMap((id) => (id && memory.reader.entity(id)) || [])
  const ofBranch = (branch ?? '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((w) => w.length > 2 && !OF_BRANCHES.has(w.toLowerCase()))
  const named = [
    ...work.map((e) => e.name.slice(0, 300)),
    ...ofBranch,
    ...[...files].map((f) =>
      f
        .replace(/\.[a-z]+$/, '')
        .split('/')
        .slice(-2)
        .join(' '),
    ),
  ]
  const terms = named.length === 0 ? [] : questionTerms(named.join(' ')).filter((t) => t.word.length > 2)
  let texts = 0
  const rarest = terms
    .slice(0, WORDS)
    .map((term) => ({ term, held: textsWith(memory.db, term.stem) }))
    .filter(({ held }) => held > 0)
    .sort((a, b) => a.held - b.held)
    .filter(({ held }) => (texts += held) <= TEXTS)
  const isKnown = ofBranch.length + work.length + (own?.files.length ?? 0) > 0
  return { branch, folder: own?.folder, files: [...files], work, terms: rarest.map(({ term }) => term), isKnown }
}

const BY_WORDS = ['decision', 'failed-approach', 'correction', 'learning'] as const

export function foundBy({ terms }: Focus, memory: Memory): { id: string; kind: string; words: number }[] {
  if (terms.length === 0) return []
  const stems = new Set(terms.map((t) => hashOf(t.stem)))
  const words = terms.map((t) => t.word)
  const hits = rowsWith(memory.db, words, TEXTS, 'known', BY_WORDS)
  const texts = textRows(memory.db, hits.map((h) => h.rowid)) // biome-ignore format: a row
  const found = ({ runs }: (typeof texts)[number]) =>
    new Set(runs.flatMap(({ terms }) => [...terms].filter((t) => stems.has(t)))).size
  const held = new Map(texts.map((t) => [t.rowid, found(t)]))
  return hits.map(({ id, kind, rowid }) => ({ id, kind, words: held.get(rowid) ?? 0 }))
}

/** How near an entity is to the current work; `words` of the work's words are in it. 0 if nothing connects them. */
export function nearness(e: Entity, focus: Focus, words: number): number {
  let near = Math.min(4, words)
  for (const path of pathsOf(e)) {
    if (focus.files.includes(path)) near += 4
    else if (focus.files.some((f) => dirOf(f) === dirOf(path) && dirOf(f) !== '')) near += 1.5
  }
  const last = provenanceOf(e).at(-1)
  if (last?.task !== undefined && focus.work.some((w) => w.id === last.task)) near += 2
  return near
}

/** Whether it is of another folder than the session, as of another app: by files it names, or where it was said. */
export function isElsewhere(e: Entity, { memory, focus }: { memory: Memory; focus: Focus }): boolean {
  if (focus.folder === undefined) return false
  const isRecord = e.kind === 'decision' && isOfFile(e)
  const named = [
    ...pathsOf(e).map((path) => (isRecord ? aboveDocs(dirOf(path)) : dirOf(path))),
    ...(Array.isArray(e.fields.paths) ? e.fields.paths.map((p) => dirOf(String(p).split('*')[0]!)) : []),
  ]
  if (named.length > 0) return named.every((dir) => areApart(dir, focus.folder))
  const session = e.fields.session ?? provenanceOf(e).at(-1)?.session
  return typeof session === 'string' && areApart(sessionsOf(memory).get(session)?.folder, focus.folder)
}

const DOCS = /^(?:docs?|documentation|adrs?|decisions?|rfcs?)$/i
/** What a record is about: the folder that has the documents, and not the one of its page. */
function aboveDocs(dir: string): string {
  const parts = dir.split('/')
  const at = parts.findIndex((part) => DOCS.test(part))
  return at < 0 ? dir : parts.slice(0, at).join('/')
}

const dirOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))

export function pathsOf(e: Entity): string[] {
  const { locations, path } = e.fields
  return [...(Array.isArray(locations) ? locations : []), ...(typeof path === 'string' ? [path] : [])].flatMap((l) =>
    typeof l === 'string' ? [cleanPath(l.split('#')[0]!.replace(/:\d{1,9}(?:-\d{1,9})?$/, ''))] : [],
  )
}
