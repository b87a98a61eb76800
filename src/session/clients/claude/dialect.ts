import type { HookEvent } from '../../hooks/call.ts'
import { answerIfAny, bounded, type Dialect, SHARED_EVENTS, specific } from '../common/dialect.ts'
import { readCommon } from '../common/hook-call.ts'
import { number, type Payload, sub, text } from '../common/payload.ts'

const EVENTS: Readonly<Record<string, HookEvent>> = {
  ...SHARED_EVENTS,
  PostToolUseFailure: 'tool-failed',
  PostCompact: 'post-compact',
  StopFailure: 'other',
  Notification: 'other',
  'status-line': 'status-line',
}

const TELLS = new Set([
  'SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'SubagentStart', 'PreCompact',
]) // biome-ignore format: a list to read at a glance

/** VS Code fires the hooks of Claude's settings too, with fields in camelCase, and takes no context with a prompt or before compaction. */
const inVsCode = (p: Payload): boolean => !Object.hasOwn(p, 'session_id') && Object.hasOwn(p, 'sessionId')

export const claude: Dialect = {
  client: 'claude',
  events: EVENTS,
  read(event, p) {
    const common = readCommon('claude', EVENTS[event] ?? 'other', p)
    const call = inVsCode(p) ? { ...common, shared: true } : common
    if (call.event === 'status-line') {
      const used = number(sub(p, 'context_window'), 'used_percentage')
      const contextWindow = number(sub(p, 'context_window'), 'context_window_size')
      return { ...call, contextUsed: used, contextWindow, cwd: text(sub(p, 'workspace'), 'current_dir') ?? call.cwd }
    }
    return call
  },
  print(event, given, p) {
    const reply = bounded(given)
    if (event === 'status-line') return reply.line ?? ''
    if (event === 'PreCompact') return (!inVsCode(p) && reply.context) || '' // plain text joins the instructions for the summary
    const own = specific(EVENTS[event], reply, claude.tells(event, p))
    return answerIfAny({ systemMessage: reply.visible, hookSpecificOutput: own && { hookEventName: event, ...own } })
  },
  tells: (event, p) => TELLS.has(event) && !(inVsCode(p) && (event === 'UserPromptSubmit' || event === 'PreCompact')),
}
