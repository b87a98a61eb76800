import type { Memory } from '../memory/memory.ts'
import { sessionsOf } from '../sessions/sessions.ts'
import type { Project } from '../store/project.ts'
import { type Briefing, type BriefOptions, brief, wasBriefed } from './brief.ts'

/** Clients cut what a hook tells them at their own ceilings; what is smaller than our own holds. */
const CEILINGS: Readonly<Record<string, { tokens?: number; chars?: number }>> = {
  codex: { tokens: 2_400 },
}

/**
 * What a hook puts before a session at its start, within what its client takes: counted by an upper bound, so that no
 * table is loaded. Keeps what was told.
 */
export function sessionStartText(
  memory: Memory,
  project: Project,
  options: BriefOptions & { door?: string },
): Briefing {
  const { door = 'session-start', ...asked } = options
  const ceiling = CEILINGS[options.client?.split(/[^a-z]/i)[0]?.toLowerCase() ?? '']
  const cursor = memory.cursor
  const told = brief(memory, project, {
    ...asked,
    ...(ceiling?.tokens !== undefined && asked.budget !== undefined
      ? { budget: Math.min(asked.budget, ceiling.tokens) }
      : {}),
  })
  wasBriefed(memory, asked, told, door, cursor)
  return told
}

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
