import { join } from 'node:path'
import { appendInside, inspect, readInside, removeInside } from '../files.ts'
import { redact } from '../secrets/find.ts'
import { besideStore, type Project } from '../store/project.ts'
import type { Hook } from './hook.ts'

/** An edit that a hook could not note in the store: it stands beside it until a later one can. */
export interface Missed {
  readonly at: number
  readonly session: string
  readonly path: string
  readonly by?: 'shell'
}

/** What no session has come back for by then is nobody's work in hand any more. */
const KEPT_MS = 86_400_000
const MOST = 1_000

const missedFile = (project: Project) => besideStore(project, 'hooks.missed')
export const missedPath = (project: Project): string => join(...missedFile(project))

/** What waits to be noted, oldest first. */
export function missedEdits(project: Project): Missed[] {
  return `${readInside(...missedFile(project)) ?? ''}`
    .split('\n')
    .flatMap((line) => {
      try {
        const { at, session, path: edited, by } = JSON.parse(line) as Partial<Missed>
        if (typeof at !== 'number' || typeof session !== 'string' || typeof edited !== 'string') return []
        return [{ at, session, path: edited, ...(by === 'shell' ? { by } : {}) }]
      } catch {
        return [] // the end, or a line that was cut off
      }
    })
    .slice(-MOST)
}

/** Puts files into the session's hands; where the store cannot be had in time, a later hook does. */
export function noteEdited(hook: Hook, paths: readonly string[], by?: 'shell'): void {
  const session = hook.session || hook.call.session
  if (session === '') return
  for (const path of paths) {
    const done =
      hook.session !== '' &&
      hook.attempt('edited', () => {
        hook.sessions.edited(session, path, by)
        return true
      })
    if (!done) keep(hook.project, { at: hook.memory.env.now(), session, path, ...(by ? { by } : {}) })
  }
}

function keep(project: Project, missed: Missed): void {
  try {
    appendInside(...missedFile(project), `${redact(JSON.stringify(missed))}\n`, { mode: 0o600 })
  } catch {} // a full disk, say: the log of hooks, if it takes a line, tells what was missed
}

/** Notes what hooks before this one could not. Under the store's lock, so that nobody does it twice. */
export function makeUp(hook: Hook): void {
  const { project, memory, sessions } = hook
  if (inspect(...missedFile(project)).is !== 'file') return
  hook.attempt('missed edits', () =>
    memory.db.write(() => {
      const waiting = missedEdits(project)
      removeInside(...missedFile(project))
      for (const missed of waiting) {
        const session = sessions.resolve(missed.session)
        if (sessions.get(session)) sessions.edited(session, missed.path, missed.by)
        else if (missed.at > memory.env.now() - KEPT_MS) keep(project, missed) // its session has yet to say that it is there
      }
    }),
  )
}
