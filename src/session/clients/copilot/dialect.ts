import type { HookEvent } from '../../hooks/call.ts'
import { answer, bounded, type Dialect, SHARED_EVENTS, specific } from '../common/dialect.ts'
import { readCommon } from '../common/hook-call.ts'
import { number, record } from '../common/payload.ts'

/** In camelCase, and as Claude Code spells them: the spelling that is registered decides in which form the payload comes. */
const EVENTS: Readonly<Record<string, HookEvent>> = {
  sessionStart: 'session-start',
  userPromptSubmitted: 'prompt',
  preToolUse: 'before-tool',
  postToolUse: 'after-tool',
  postToolUseFailure: 'tool-failed',
  agentStop: 'stop',
  subagentStart: 'subagent-start',
  subagentStop: 'subagent-stop',
  preCompact: 'pre-compact',
  sessionEnd: 'session-end',
  userPromptTransformed: 'other',
  permissionRequest: 'other',
  errorOccurred: 'other',
  notification: 'other',
  ...SHARED_EVENTS,
  PostToolUseFailure: 'tool-failed',
}

const TELLS = new Set(['session-start', 'prompt', 'after-tool'])

/** JSON alone on stdout; `additionalContext` stands at the top in camelCase, within `hookSpecificOutput` in Claude's form. */
export const copilot: Dialect = {
  client: 'copilot',
  events: EVENTS,
  read(event, p) {
    const call = readCommon('copilot', EVENTS[event] ?? 'other', p)
    return { ...call, contextUsed: number(record(p.contextUsage ?? p.context_usage), 'percentage', 'used_percentage') }
  },
  print(event, given) {
    const own = specific(EVENTS[event], bounded(given), copilot.tells(event, {}))
    if (!/^[A-Z]/.test(event)) return answer({ ...own })
    return answer({ hookSpecificOutput: own && { hookEventName: event, ...own } })
  },
  tells: (event) => TELLS.has(EVENTS[event] ?? 'other'),
}
