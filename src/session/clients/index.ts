/**
 * clients: one folder per client. `wiring.ts` names the events that are listened to and edits its configuration,
 * `check.ts` or the wiring itself judges it, `dialect.ts` translates events. What they share is in `common/`;
 * `wiring.ts` beside this file plans and applies for all of them.
 */

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
export const DIALECTS = {
  claude: async () => (await import('./claude/dialect.ts')).claude,
  codex: async () => (await import('./codex/dialect.ts')).codex,
  gemini: async () => (await import('./gemini/dialect.ts')).gemini,
  copilot: async () => (await import('./copilot/dialect.ts')).copilot,
  cursor: async () => (await import('./cursor/dialect.ts')).cursor,
  opencode: async () => (await import('./opencode/dialect.ts')).opencode,
} satisfies Readonly<Record<string, () => Promise<Dialect>>>

/** The clients whose hooks are understood. */
export type HookClient = keyof typeof DIALECTS
export const HOOK_CLIENTS = Object.keys(DIALECTS) as readonly HookClient[]

/** The events of a client that are listened to. */
export const eventsOf = (name: HookClient) => CLIENTS.find((client) => client.name === name)!.events
