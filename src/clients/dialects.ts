import type { HookClient } from '../hooks/call.ts'
import type { Dialect } from './common/dialect.ts'

/** Every client's dialect, loaded when its hook is called. */
export const DIALECTS: Readonly<Record<HookClient, () => Promise<Dialect>>> = {
  claude: async () => (await import('./claude/dialect.ts')).claude,
  codex: async () => (await import('./codex/dialect.ts')).codex,
  gemini: async () => (await import('./gemini/dialect.ts')).gemini,
  copilot: async () => (await import('./copilot/dialect.ts')).copilot,
  cursor: async () => (await import('./cursor/dialect.ts')).cursor,
  opencode: async () => (await import('./opencode/dialect.ts')).opencode,
}
