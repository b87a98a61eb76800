import type { Memory } from '../../engine/memory.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'

/** What being told has cost a session so far. */
export interface Costs {
  /** How often something was put before it. */
  readonly times: number
  readonly tokens: number
  readonly chars: number
  /** Milliseconds of hooks, where they were measured. */
  readonly ms: number
  /** The same by door: session-start, prompt, brief … */
  readonly doors: { readonly [door: string]: { readonly times: number; readonly tokens: number; readonly ms: number } }
}

/** Tokens and time that a session has spent on what it was told. */
export function costsOf(memory: Memory, session: string): Costs {
  const told = sessionsOf(memory).toldOf(session)
  const sum = (rows: typeof told) => ({
    times: rows.length,
    tokens: rows.reduce((n, t) => n + t.tokens, 0),
    ms: rows.reduce((n, t) => n + (t.ms ?? 0), 0),
  })
  const doors = Object.fromEntries([...Map.groupBy(told, (t) => t.door)].map(([door, rows]) => [door, sum(rows)]))
  return { ...sum(told), chars: told.reduce((n, t) => n + t.chars, 0), doors }
}
