import type { Memory } from '../../engine/memory.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'

/** What a session was told, and the same by door: session-start, prompt, brief … */
export function costsOf(memory: Memory, session: string) {
  const told = sessionsOf(memory).toldOf(session)
  const sum = (rows: typeof told) => ({ times: rows.length, tokens: rows.reduce((n, t) => n + t.tokens, 0) })
  const doors = Object.fromEntries([...Map.groupBy(told, (t) => t.door)].map(([door, rows]) => [door, sum(rows)]))
  return { ...sum(told), chars: told.reduce((n, t) => n + t.chars, 0), doors }
}
