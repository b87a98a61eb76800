import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Lines } from '../coordination/sessions.ts'
import { appendInside, inspect, readInside, removeInside } from '../files.ts'
import { jsonIn } from '../model/object.ts'
import { redact } from '../secrets/find.ts'
import { besideStore, type Project } from '../store/project.ts'
import type { Captured } from './capture/patterns.ts'
import type { Proposed } from './capture/propose.ts'
import type { Hook } from './hook.ts'

/** What a hook could not note in the store stands beside it until a later one can. */
interface Missed {
  readonly at: number
  readonly session: string
}
interface MissedEdit extends Missed {
  readonly path: string
  readonly by?: 'shell'
  /** The work tree, where the edit was only begun: it counts once the file has been written. */
  readonly root?: string
}
/** What a prompt laid down. */
interface MissedWords extends Missed {
  readonly found: readonly Captured[]
}

/** What no session has come back for by then is nobody's work in hand any more. */
const KEPT_MS = 86_400_000
const MOST = 1_000

const missedFile = (project: Project) => besideStore(project, 'hooks.missed')
export const missedPath = (project: Project): string => join(...missedFile(project))

/** What waits to be noted, oldest first. */
function missed(project: Project): (MissedEdit | MissedWords)[] {
  return `${readInside(...missedFile(project)) ?? ''}`
    .split('\n')
    .flatMap((line): (MissedEdit | MissedWords)[] => {
      const said = (jsonIn(line) ?? {}) as Partial<MissedEdit & MissedWords> // the end, or a line that was cut off
      const { at, session, path, by, root, found } = said
      if (typeof at !== 'number' || typeof session !== 'string') return []
      if (Array.isArray(found)) return [{ at, session, found: found.filter((f) => Array.isArray(f?.action)) }]
      if (typeof path !== 'string') return []
      const isShell = by === 'shell' ? by : undefined
      return [{ at, session, path, by: isShell, root: typeof root === 'string' ? root : undefined }]
    })
    .slice(-MOST)
}

export const missedEdits = (project: Project): MissedEdit[] =>
  missed(project).filter((m) => 'path' in m && m.root === undefined) as MissedEdit[]

/** Puts files into the session's hands; where the store cannot be had in time, a later hook does. */
export function noteEdited(
  hook: Hook,
  paths: readonly string[],
  by?: 'shell',
  lines?: ReadonlyMap<string, Lines>,
): void {
  const session = hook.session || hook.call.session
  if (session === '') return
  for (const path of paths) {
    const done =
      hook.session !== '' &&
      hook.attempt('edited', () => {
        hook.sessions.edited(session, path, by, lines?.get(path))
        return true
      })
    if (!done) keep(hook.project, redact(JSON.stringify({ at: hook.memory.env.now(), session, path, by })))
  }
}

/** A shell was asked to patch these files. Codex does that itself and tells nothing afterwards: the session's next hook looks. */
export function expectEdited({ project, memory, session, root }: Hook, paths: readonly string[]): void {
  if (session === '') return
  for (const path of paths) keep(project, redact(JSON.stringify({ at: memory.env.now(), session, path, root })))
}

/** After so long a patch that its own session says nothing of has failed. */
const PATCHING_MS = 10 * 60_000
/** A file system keeps times less exactly than the clock does. */
const SLACK_MS = 50

const wasWritten = ({ at, path }: MissedEdit, root: string): boolean =>
  (statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0) >= at - SLACK_MS

/** Keeps what a prompt said until a hook can note it; nothing that holds a secret. */
export function keepWords(hook: Hook, found: readonly Captured[]): void {
  const session = hook.session || hook.call.session
  const line = JSON.stringify({ at: hook.memory.env.now(), session, found })
  if (session !== '' && redact(line) === line) keep(hook.project, line)
}

function keep(project: Project, line: string): void {
  try {
    appendInside(...missedFile(project), `${line}\n`, { mode: 0o600 })
  } catch {} // a full disk, say: the log of hooks, if it takes a line, tells what was missed
}

/**
 * Notes what hooks before this one could not; edits under the store's lock, so that nobody does it twice. Gives what this
 * session's prompts laid down.
 */
export async function makeUp(hook: Hook): Promise<Proposed[]> {
  const { project, memory, sessions } = hook
  if (inspect(...missedFile(project)).is !== 'file') return []
  const words: MissedWords[] = []
  hook.attempt('what was missed', () =>
    memory.db.write(() => {
      const waiting = missed(project)
      removeInside(...missedFile(project))
      for (const m of waiting) {
        const session = sessions.resolve(m.session)
        if (!sessions.get(session)) {
          // its session has yet to say that it is there
          if (Math.abs(memory.env.now() - m.at) < KEPT_MS) keep(project, JSON.stringify(m))
        } else if ('path' in m) {
          if (m.root === undefined || wasWritten(m, m.root)) sessions.edited(session, m.path, m.by)
          else if (session !== hook.session && memory.env.now() - m.at < PATCHING_MS) keep(project, JSON.stringify(m))
        } else words.push({ ...m, session })
      }
    }),
  )
  if (words.length === 0) return []
  const { proposeAll } = await import('./capture/propose.ts')
  return words.flatMap((m) => {
    const noted = hook.attempt('what was said', () => proposeAll(hook, m.session, m.found))
    if (!noted) keep(project, JSON.stringify(m))
    return noted && m.session === hook.session ? noted : []
  })
}
