/** clients: one folder per client, what they share in `common/`; `wiring.ts` plans and applies for all. */

import type { ClientName } from '../../work/coordination/clients.ts'
import { claude } from './claude/wiring.ts'
import { codex } from './codex/wiring.ts'
import type { Dialect } from './common/dialect.ts'
import type { Client } from './common/types.ts'
import { copilot } from './copilot/wiring.ts'
import { cursor } from './cursor/wiring.ts'
import { gemini } from './gemini/wiring.ts'
import { opencode } from './opencode/wiring.ts'

export const CLIENTS: readonly Client[] = [claude, codex, gemini, copilot, cursor, opencode]

export const DIALECTS: Readonly<Record<ClientName, () => Promise<Dialect>>> = {
  claude: async () => (await import('./claude/dialect.ts')).claude,
  codex: async () => (await import('./codex/dialect.ts')).codex,
  gemini: async () => (await import('./gemini/dialect.ts')).gemini,
  copilot: async () => (await import('./copilot/dialect.ts')).copilot,
  cursor: async () => (await import('./cursor/dialect.ts')).cursor,
  opencode: async () => (await import('./opencode/dialect.ts')).opencode,
}

export const eventsOf = (name: ClientName) => CLIENTS.find((client) => client.name === name)!.events
