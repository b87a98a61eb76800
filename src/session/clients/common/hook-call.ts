import type { HookCall, HookEvent } from '../../hooks/call.ts'
import { idOf, number, objectOrJson, type Payload, text } from './payload.ts'
import { toolEvent, toolOf } from './tool.ts'

const WHEN: Partial<Record<HookEvent, 'before' | 'after' | 'failed'>> = {
  'before-tool': 'before',
  'after-tool': 'after',
  'tool-failed': 'failed',
}

/** What a person's prompt may be that is kept in mind; a longer one is a pasted document. */
const PROMPT_MAX = 20_000

/** The beginning of a text, up to the end of a word: half of a secret does not look like one. */
const beginning = (whole: string | undefined): string | undefined =>
  whole === undefined || whole.length <= PROMPT_MAX ? whole : whole.slice(0, PROMPT_MAX).replace(/(?<!\S)\S+$/, '')

/** A payload in Claude Code's fields, which others follow. `agent_id` without `agent_type` is the client's own. */
export function readCommon(client: string, event: HookEvent, p: Payload): HookCall {
  const own = idOf(text(p, 'session_id', 'sessionId', 'conversation_id'))
  const agentId = idOf(text(p, 'agent_id', 'agentId'))
  const agent = text(p, 'agent_type', 'agentType', 'agent_name', 'agentName')
  const child = own !== '' && agentId !== '' && agent !== undefined
  const call: HookCall = {
    client,
    event,
    session: child ? `${own}/${agentId}` : own,
    parent: child ? own : undefined,
    agent: child ? agent!.slice(0, 100) : undefined,
    source: text(p, 'source'),
    trigger: text(p, 'trigger'),
    reason: text(p, 'reason'),
    cwd: text(p, 'cwd'),
    prompt: beginning(text(p, 'prompt')),
    transcript: text(p, 'transcript_path', 'transcriptPath'),
    said: beginning(text(p, 'last_assistant_message', 'prompt_response')),
  }
  if ((event === 'subagent-start' || event === 'subagent-stop') && !child) return { ...call, event: 'other' }
  const when = WHEN[event]
  const name = text(p, 'tool_name', 'toolName')
  if (!when) return call
  if (name === undefined) return { ...call, event: 'other' }
  const tool = toolOf(name, objectOrJson(p.tool_input ?? p.toolInput ?? p.toolArgs), {
    id: text(p, 'tool_use_id', 'toolUseId', 'tool_call_id'),
    response: p.tool_response ?? p.tool_result ?? p.toolResult ?? p.toolResponse ?? p.error,
    failed: when === 'failed',
  })
  const ms = number(p, 'duration_ms', 'duration') ?? -1
  return { ...call, event: toolEvent(when, tool), tool: ms < 0 ? tool : { ...tool, ms } }
}
