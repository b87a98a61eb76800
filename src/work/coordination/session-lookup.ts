import { UserError } from '../../base/errors.ts'
import { isLive } from '../../engine/claims/lease.ts'
import type { Memory } from '../../engine/memory.ts'
import { nearest } from '../../model/names.ts'
import { type SessionInfo, sessionsOf } from './sessions.ts'

const NAMED_AT_MOST = 20
/** So much of an id is enough. */
const SHORT = 6

/** The refusal of a session that somebody has named, with those that live. */
function refused(memory: Memory, code: string, message: string, id: string): UserError {
  const live = sessionsOf(memory)
    .list()
    .map((s) => s.id)
  const near = nearest(id, live)
  const some = live.slice(0, NAMED_AT_MOST).join(', ')
  const more = live.length > NAMED_AT_MOST ? ` and ${live.length - NAMED_AT_MOST} more` : ''
  const who = live.length > 0 ? `those that live are ${some}${more}` : 'no session is live'
  const hint = `${near.length > 0 ? `did you mean ${near.join(' or ')}? ` : ''}${who}; (sessions) in discover shows what they do`
  return new UserError(code, message, hint, { live, nearest: near })
}

const shown = (id: string) => id.slice(0, 80).toWellFormed()

/** The one session with this title, live ones first, or whose id begins so. */
function called(all: readonly SessionInfo[], text: string): SessionInfo | undefined {
  const found = all.filter((s) => s.data.title === text || (text.length >= SHORT && s.id.startsWith(text)))
  const live = found.filter((s) => isLive(s.state))
  return (live.length > 0 ? live : found).length === 1 ? (live[0] ?? found[0]) : undefined
}

/** A session that is known here, by the id that it has now. @throws UserError with those that live. */
export function knownSession(memory: Memory, id: string): SessionInfo {
  const sessions = sessionsOf(memory)
  const found = sessions.get(sessions.resolve(id)) ?? called(sessions.list({ all: true }), id)
  if (found) return found
  throw refused(memory, 'not-found', `there is no session ${shown(id)}`, id)
}

/** The live session with this id. @throws UserError with the live sessions. */
export function liveSession(memory: Memory, id: string): SessionInfo {
  const found = knownSession(memory, id)
  if (isLive(found.state)) return found
  throw refused(memory, 'not-live', `session ${shown(found.id)} has ${found.state}`, id)
}
