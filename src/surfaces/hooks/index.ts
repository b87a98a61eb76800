import type { HookClient } from '../../hooking/call.ts'
import type { Dialect } from './dialect.ts'

/** Every client's dialect, loaded when its hook is called. */
export const DIALECTS: Readonly<Record<HookClient, () => Promise<Dialect>>> = {
  claude: async () => (await import('./claude/claude.ts')).claude,
  codex: async () => (await import('./codex/codex.ts')).codex,
  gemini: async () => (await import('./gemini/gemini.ts')).gemini,
  copilot: async () => (await import('./copilot/copilot.ts')).copilot,
  cursor: async () => (await import('./cursor/cursor.ts')).cursor,
  opencode: async () => (await import('./opencode/opencode.ts')).opencode,
}
