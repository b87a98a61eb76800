import type { Memory } from '../memory/memory.ts'
import { sessionsOf } from './sessions.ts'

/** Everybody who worked as this session: under its earlier ids, and its subagents. */
export function idsOf(memory: Memory, session: string): Set<string> {
  const sessions = sessionsOf(memory)
  const ids = new Set<string>()
  for (let id: unknown = session; typeof id === 'string' && !ids.has(id); id = sessions.get(id)?.data.after) ids.add(id)
  for (const s of sessions.list({ all: true })) if (s.parent !== undefined && ids.has(s.parent)) ids.add(s.id)
  return ids
}
