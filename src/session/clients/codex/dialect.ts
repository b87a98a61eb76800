import type { HookEvent } from '../../hooks/call.ts'
import { answerIfAny, bounded, bytes, cutTo, type Dialect, SHARED_EVENTS, specific } from '../common/dialect.ts'
import { readCommon } from '../common/hook-call.ts'

const EVENTS: Readonly<Record<string, HookEvent>> = {
  ...SHARED_EVENTS,
  PostCompact: 'post-compact',
  PermissionRequest: 'other',
  Interrupt: 'other',
}

/** Only the answers of these have a place for context. One key that an event does not have, and Codex drops it all. */
const TELLS = new Set(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'SubagentStart'])
/** These take `systemMessage`; of the others nothing is known that they show. */
const SHOWS = new Set([...TELLS, 'Stop', 'SubagentStop', 'PreCompact', 'PostCompact'])
/** Codex cuts at 2,500 tokens, which it reckons as four bytes each. */
const CONTEXT_BYTES = 9_000

export const codex: Dialect = {
  client: 'codex',
  events: EVENTS,
  read: (event, p) => readCommon('codex', EVENTS[event] ?? 'other', p),
  print(event, given) {
    const reply = bounded(given, (t) => cutTo(t, CONTEXT_BYTES, bytes))
    const own = specific(EVENTS[event], reply, TELLS.has(event))
    return answerIfAny({
      systemMessage: SHOWS.has(event) ? reply.visible : undefined,
      hookSpecificOutput: own && { hookEventName: event, ...own },
    })
  },
  tells: (event) => TELLS.has(event),
}
