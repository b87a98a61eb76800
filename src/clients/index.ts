/**
 * clients: one folder per client. `wiring.ts` edits its configuration, `check.ts` or the wiring itself judges it,
 * `dialect.ts` translates its hooks. What they share is in `common/`; `wiring.ts` beside this file plans and applies
 * for all of them.
 */

import { claude } from './claude/wiring.ts'
import { codex } from './codex/wiring.ts'
import type { Client } from './common/types.ts'
import { copilot } from './copilot/wiring.ts'
import { cursor } from './cursor/wiring.ts'
import { gemini } from './gemini/wiring.ts'
import { opencode } from './opencode/wiring.ts'

/** Every client that can be wired: a file each. */
export const CLIENTS: readonly Client[] = [claude, codex, gemini, copilot, cursor, opencode]
