import { cleanPath, type Entity } from '../memory/entity.ts'
import type { Memory } from '../memory/memory.ts'
import type { SessionInfo } from '../sessions/info.ts'
import { sessionsOf } from '../sessions/sessions.ts'
import { textsWith } from '../store/texts.ts'
import { questionTerms, termsOf } from '../store/words.ts'

/** What the work at hand is about, as far as that is known without asking git. */
export interface Focus {
  readonly branch: string | undefined
  /** Files in hand here, and those of the sessions before on the same branch, newest first. */
  readonly files: readonly string[]
  /** The current task and what it belongs to, the task first. */
  readonly work: readonly Entity[]
  /** Stems of what these are called. */
  readonly stems: ReadonlySet<string>
  /** The same in words, to look for. */
  readonly words: string
}

/** Files in hand that count: of a long session the last ones. */
const FILES = 20
/** So many words are looked for. */
const WORDS = 10
/** Words of a branch name that say nothing of the work. */
const OF_BRANCHES = new Set(['feature', 'feat', 'fix', 'bugfix', 'hotfix', 'main', 'master', 'develop', 'dev', 'release', 'chore', 'wip']) // biome-ignore format: a list

/** What more texts hold finds nothing in particular, and costs a look at each: `src`, `part`. */
const COMMON = 300

/** What a session works on; without one, what the sessions last seen on the branch did. */
export function focusOf(memory: Memory, session: string | undefined, branch: string | undefined): Focus {
  const sessions = sessionsOf(memory)
  const own = session === undefined ? undefined : sessions.get(session)
  const others = sessions.list({ all: true }).filter((s) => s.id !== session && (s.branch ?? branch) === branch)
  const files = new Set<string>()
  for (const s of [...(own ? [own] : []), ...others.slice(0, 3)])
    for (const f of [...s.files].reverse()) if (files.size < FILES) files.add(cleanPath(f))
  const work = workOf(memory, session, own, others)
  const named = [
    ...work.map((e) => e.name.slice(0, 300)),
    ...(branch ?? '').split(/[^\p{L}\p{N}]+/u).filter((w) => w.length > 2 && !OF_BRANCHES.has(w.toLowerCase())),
    ...[...files].map((f) =>
      f
        .replace(/\.[a-z]+$/, '')
        .split('/')
        .slice(-2)
        .join(' '),
    ),
  ]
  const terms =
    named.length === 0
      ? []
      : questionTerms(named.join(' '))
          .filter((t) => t.word.length > 2)
          .slice(0, WORDS)
  return {
    branch,
    files: [...files],
    work,
    words: terms
      .filter((t) => textsWith(memory.db, t.stem) <= COMMON)
      .map((t) => t.word)
      .join(' '),
    stems: new Set(terms.map((t) => t.stem)),
  }
}

function workOf(
  memory: Memory,
  session: string | undefined,
  own: SessionInfo | undefined,
  others: readonly SessionInfo[],
): Entity[] {
  const place = [session, own?.id, others[0]?.id].flatMap((id) => {
    const at = memory.place(id)
    return (at.goal ?? at.activity ?? at.task) ? [at] : []
  })[0]
  const { reader } = memory
  return [place?.task, place?.activity, place?.goal].flatMap((id) => (id ? (reader.entity(id) ?? []) : []))
}

/** How near an entity is to the work at hand: 0 where nothing says that it is. */
export function nearness(e: Entity, focus: Focus, byWords: boolean): number {
  let near = 0
  for (const path of pathsOf(e)) {
    if (focus.files.includes(path)) near += 4
    else if (focus.files.some((f) => dirOf(f) === dirOf(path) && dirOf(f) !== '')) near += 1.5
  }
  if (byWords) {
    const said = new Set(termsOf(textOf(e)).map((t) => t.stem))
    let common = 0
    for (const stem of focus.stems) if (said.has(stem)) common++
    near += Math.min(4, common)
  }
  const { provenance } = e.fields
  const last = Array.isArray(provenance) ? (provenance.at(-1) as { task?: string; branch?: string } | null) : null
  if (last?.task !== undefined && focus.work.some((w) => w.id === last.task)) near += 2
  return near
}

const dirOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** The files that an entity names as places where it shows. */
export function pathsOf(e: Entity): string[] {
  const { locations, path } = e.fields
  const all = [...(Array.isArray(locations) ? locations : []), ...(typeof path === 'string' ? [path] : [])]
  return all.flatMap((l) =>
    typeof l === 'string' ? [cleanPath(l.split('#')[0]!.replace(/:\d{1,9}(?:-\d{1,9})?$/, ''))] : [],
  )
}

/** What an entity says in short, to compare by words. */
const textOf = (e: Entity): string =>
  [
    e.name,
    e.fields.description,
    e.fields.outcome,
    e.fields.lesson,
    e.fields.wrongBelief,
    e.fields.rightBelief,
    ...[e.fields.topics, e.fields.tags].flat(),
  ]
    .filter((v) => typeof v === 'string')
    .join(' ')
    .slice(0, 400)
