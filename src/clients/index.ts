/**
 * clients: one folder per client. `wiring.ts` edits its configuration, `check.ts` or the wiring itself judges it,
 * `events.ts` names the events that it is asked for, `dialect.ts` translates them. What they share is in `common/`;
 * `wiring.ts` beside this file plans and applies for all of them.
 */

import type { HookClient } from '../hooks/call.ts'
import { claude } from './claude/wiring.ts'
import { codex } from './codex/wiring.ts'
import type { Dialect } from './common/dialect.ts'
import type { Client } from './common/types.ts'
import { copilot } from './copilot/wiring.ts'
import { cursor } from './cursor/wiring.ts'
import { gemini } from './gemini/wiring.ts'
import { opencode } from './opencode/wiring.ts'

/** Every client that can be wired: a file each. */
export const CLIENTS: readonly Client[] = [claude, codex, gemini, copilot, cursor, opencode]

/** Every client's dialect, loaded when its hook is called. */
export const DIALECTS: Readonly<Record<HookClient, () => Promise<Dialect>>> = {
  claude: async () => (await import('./claude/dialect.ts')).claude,
  codex: async () => (await import('./codex/dialect.ts')).codex,
  gemini: async () => (await import('./gemini/dialect.ts')).gemini,
  copilot: async () => (await import('./copilot/dialect.ts')).copilot,
  cursor: async () => (await import('./cursor/dialect.ts')).cursor,
  opencode: async () => (await import('./opencode/dialect.ts')).opencode,
}

/** The events of a client that are listened to. */
export const eventsOf = (name: HookClient) => CLIENTS.find((client) => client.name === name)!.events
