import { join } from 'node:path'
import { attempt } from '../../base/errors.ts'
import { appendInside, inspect, readInside, removeInside, SLACK_MS, statOf } from '../../base/files.ts'
import { redact } from '../../base/secrets/find.ts'
import { besideStore, type Project } from '../../engine/store/project.ts'
import { jsonIn } from '../../model/object.ts'
import type { Lines } from '../../work/coordination/sessions.ts'
import type { Hook } from './hook.ts'

/** What a hook could not note in the store stands beside it until a later one can. */
interface MissedEdit {
  readonly at: number
  readonly session: string
  readonly path: string
  readonly by?: 'shell'
  /** The work tree, where the edit was only begun: it counts once the file has been written. */
  readonly root?: string
}

/** What no session has come back for by then is nobody's work in hand any more. */
const KEPT_MS = 86_400_000
const MAX_KEPT = 1_000

const missedFile = (project: Project) => besideStore(project, 'hooks.missed')

const missed = (project: Project): MissedEdit[] =>
  `${readInside(...missedFile(project)) ?? ''}`
    .split('\n')
    .flatMap((line): MissedEdit[] => {
      const said = (jsonIn(line) ?? {}) as Partial<MissedEdit> // the end, or a line that was cut off
      const { at, session, path, by, root } = said
      if (typeof at !== 'number' || typeof session !== 'string' || typeof path !== 'string') return []
      const isShell = by === 'shell' ? by : undefined
      return [{ at, session, path, by: isShell, root: typeof root === 'string' ? root : undefined }]
    })
    .slice(-MAX_KEPT)

export const missedEdits = (project: Project): MissedEdit[] => missed(project).filter((m) => m.root === undefined)

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

const wasWritten = ({ at, path }: MissedEdit, root: string): boolean =>
  (statOf(join(root, path))?.mtimeMs ?? 0) >= at - SLACK_MS

/** On a full disk, say, nothing is kept: the log of hooks, if it takes a line, tells what was missed. */
const keep = (project: Project, line: string): void =>
  attempt(() => appendInside(...missedFile(project), `${line}\n`, { mode: 0o600 }))

/** Notes what hooks before this one could not, under the store's lock, so that nobody does it twice. */
export function makeUp(hook: Hook): void {
  const { project, memory, sessions } = hook
  if (inspect(...missedFile(project)).is !== 'file') return
  hook.attempt('what was missed', () =>
    memory.db.write(() => {
      const waiting = missed(project)
      removeInside(...missedFile(project))
      for (const m of waiting) {
        const session = sessions.resolve(m.session)
        // its session has yet to say that it is there
        if (!sessions.get(session)) {
          if (Math.abs(memory.env.now() - m.at) < KEPT_MS) keep(project, JSON.stringify(m))
        } else if (m.root === undefined || wasWritten(m, m.root)) sessions.edited(session, m.path, m.by)
        else if (session !== hook.session && memory.env.now() - m.at < PATCHING_MS) keep(project, JSON.stringify(m))
      }
    }),
  )
}
