import type { Memory } from '../../engine/memory.ts'
import { sessionsOf } from './sessions.ts'

/** Everybody who worked as this session: under its earlier ids, and its subagents with theirs. */
export function idsOf(memory: Memory, session: string): Set<string> {
  const sessions = sessionsOf(memory)
  const ids = new Set<string>()
  for (let id: unknown = session; typeof id === 'string' && !ids.has(id); id = sessions.get(id)?.data.after) ids.add(id)
  const children = Map.groupBy(sessions.list({ all: true }), (s) => s.parent)
  // what is added is gone through as well: theirs too
  for (const id of ids) for (const child of children.get(id) ?? []) ids.add(child.id)
  return ids
}

/** Whether an id means the same session as another: after `/clear` an old one means the new. */
export function sameSession(memory: Memory, session: string): (id: string) => boolean {
  const sessions = sessionsOf(memory)
  const me = sessions.resolve(session)
  return (id) => id === session || sessions.resolve(id) === me
}
