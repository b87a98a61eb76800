import type { HookCall, HookEvent } from '../../hooks/call.ts'
import { answer, bounded, type Dialect, refusal } from '../common/dialect.ts'
import { readCommon } from '../common/hook-call.ts'
import { idOf, list, number, type Payload, text } from '../common/payload.ts'
import { toolOf } from '../common/tool.ts'

const EVENTS: Readonly<Record<string, HookEvent>> = {
  sessionStart: 'session-start',
  beforeSubmitPrompt: 'prompt',
  preToolUse: 'before-tool',
  postToolUse: 'after-tool',
  postToolUseFailure: 'tool-failed',
  afterFileEdit: 'after-edit',
  afterTabFileEdit: 'after-edit',
  beforeShellExecution: 'before-tool',
  afterShellExecution: 'after-tool',
  subagentStart: 'subagent-start',
  subagentStop: 'subagent-stop',
  preCompact: 'pre-compact',
  stop: 'stop',
  sessionEnd: 'session-end',
  beforeMCPExecution: 'other',
  afterMCPExecution: 'other',
  beforeReadFile: 'other',
  beforeTabFileRead: 'other',
  afterAgentResponse: 'other',
  afterAgentThought: 'other',
}

const TELLS = new Set(['sessionStart', 'postToolUse', 'beforeSubmitPrompt'])
const PERMITS = new Set(['preToolUse', 'beforeShellExecution'])

/** Cursor's own hooks for edits and shells name no tool: they are one. */
function toolCall(event: string, p: Payload, call: HookCall): HookCall {
  const path = text(p, 'file_path')
  if (event === 'afterFileEdit' || event === 'afterTabFileEdit') {
    if (path === undefined) return { ...call, event: 'other' }
    return { ...call, event: 'after-edit', tool: { name: event, paths: [path] } }
  }
  const command = text(p, 'command')
  if (command === undefined) return { ...call, event: 'other' }
  const tool = toolOf('Shell', { command }, { response: p.output ?? p.result })
  const code = number(p, 'exit_code', 'exitCode')
  const failed = code !== undefined && code !== 0
  const when = event === 'beforeShellExecution' ? 'before-tool' : failed ? 'tool-failed' : 'after-tool'
  return { ...call, event: when, tool: failed ? { ...tool, failed } : tool }
}

/** Fields are snake_case in both directions; the session is the conversation. */
export const cursor: Dialect = {
  client: 'cursor',
  events: EVENTS,
  read(event, p) {
    const roots = list(p.workspace_roots).filter((r) => typeof r === 'string')
    const id = idOf(text(p, 'conversation_id', 'session_id'))
    const common = readCommon('cursor', EVENTS[event] ?? 'other', { ...p, session_id: id })
    const call: HookCall = {
      ...common,
      shared: true,
      cwd: common.cwd ?? roots[0],
      contextUsed: number(p, 'context_usage_percent'),
    }
    return /File|Shell/.test(event) && EVENTS[event] !== 'other' ? toolCall(event, p, call) : call
  },
  print(event, given) {
    const reply = bounded(given)
    const refused = PERMITS.has(event) ? refusal(reply) : undefined
    return answer({
      continue: event === 'beforeSubmitPrompt' || undefined,
      permission: refused?.decision,
      user_message: event === 'preCompact' ? reply.visible : refused?.reason,
      agent_message: refused?.reason,
      additional_context: TELLS.has(event) ? reply.context : undefined,
    })
  },
  tells: (event) => TELLS.has(event),
}
