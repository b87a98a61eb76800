import { claude } from './claude.ts'
import { codex } from './codex.ts'
import type { Client } from './types.ts'

/** Every MCP client that can be wired: a file each. */
export const CLIENTS: readonly Client[] = [claude, codex]
