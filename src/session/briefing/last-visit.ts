import type { Memory } from '../../engine/memory.ts'
import { getMeta, setMeta } from '../../engine/store/meta.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'

const keyOf = (user: string | undefined): string => `briefed:${user ?? ''}`

/** The last event that the session, or else the user, was told of; undefined for a newcomer. */
export function lastHere(about: {
  memory: Memory
  session: string | undefined
  user: string | undefined
}): number | undefined {
  const { memory, session, user } = about
  const sessions = sessionsOf(memory)
  if (session !== undefined && sessions.toldOf(session).length > 0) {
    const { cursor } = sessions.get(session) ?? {}
    if (cursor !== undefined) return cursor
  }
  const kept = getMeta(memory.db, keyOf(user))
  return kept === undefined ? undefined : Number(kept)
}

/** Whoever was told now is up to date. Never waits for a writer: then the same is told once more. */
export function wasHere(memory: Memory, user: string | undefined, cursor: number): void {
  memory.db.tryWrite(() => {
    if (Number(getMeta(memory.db, keyOf(user)) ?? -1) < cursor) setMeta(memory.db, keyOf(user), String(cursor))
    return true
  })
}
