import { claude } from './claude.ts'
import { codex } from './codex.ts'
import { copilot } from './copilot.ts'
import { cursor } from './cursor.ts'
import { gemini } from './gemini.ts'
import { opencode } from './opencode.ts'
import type { Client } from './types.ts'

/** Every client that can be wired: a file each. */
export const CLIENTS: readonly Client[] = [claude, codex, gemini, copilot, cursor, opencode]
