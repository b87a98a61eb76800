import type { HookEvent } from '../../hooks/call.ts'
import { answer, bounded, type Dialect } from '../common/dialect.ts'
import { minded, readCommon } from '../common/hook-call.ts'
import { number, record, said } from '../common/payload.ts'

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
  SessionStart: 'session-start',
  UserPromptSubmit: 'prompt',
  PreToolUse: 'before-tool',
  PostToolUse: 'after-tool',
  PostToolUseFailure: 'tool-failed',
  Stop: 'stop',
  SubagentStart: 'subagent-start',
  SubagentStop: 'subagent-stop',
  PreCompact: 'pre-compact',
  SessionEnd: 'session-end',
}

const TELLS = new Set(['session-start', 'prompt', 'after-tool'])

/** JSON alone on stdout; `additionalContext` stands at the top in camelCase, within `hookSpecificOutput` in Claude's form. */
export const copilot: Dialect = {
  client: 'copilot',
  events: EVENTS,
  read(event, p) {
    const call = readCommon('copilot', EVENTS[event] ?? 'other', p)
    const usage = record(p.contextUsage ?? p.context_usage)
    return { ...call, ...said({ contextUsed: number(usage, 'percentage', 'used_percentage') }) }
  },
  print(event, given) {
    const reply = bounded(given)
    const nested = /^[A-Z]/.test(event)
    const means = EVENTS[event]
    const own: Record<string, unknown> = {}
    const out: Record<string, unknown> = {}
    if (means === 'before-tool' && (reply.decision === 'deny' || reply.decision === 'ask')) {
      own.permissionDecision = reply.decision
      own.permissionDecisionReason = reply.reason ?? 'Tidemark'
    }
    const context = means === 'before-tool' ? minded(reply) : reply.context
    if (context && copilot.tells(event, {})) own.additionalContext = context
    if (!nested) return answer({ ...out, ...own }, true)
    if (Object.keys(own).length > 0) out.hookSpecificOutput = { hookEventName: event, ...own }
    return answer(out, true)
  },
  tells: (event) => TELLS.has(EVENTS[event] ?? 'other'),
}
