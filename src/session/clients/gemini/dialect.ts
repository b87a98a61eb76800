import type { HookEvent } from '../../hooks/call.ts'
import { answer, bounded, type Dialect, refusal } from '../common/dialect.ts'
import { readCommon } from '../common/hook-call.ts'
import { text } from '../common/payload.ts'

const EVENTS: Readonly<Record<string, HookEvent>> = {
  SessionStart: 'session-start',
  BeforeAgent: 'prompt',
  BeforeTool: 'before-tool',
  AfterTool: 'after-tool',
  AfterAgent: 'stop',
  PreCompress: 'pre-compact',
  SessionEnd: 'session-end',
  BeforeModel: 'other',
  AfterModel: 'other',
  BeforeToolSelection: 'other',
  Notification: 'other',
}

const TELLS = new Set(['SessionStart', 'BeforeAgent', 'AfterTool'])
/** These take no `systemMessage`. */
const SILENT = new Set(['BeforeModel', 'AfterModel', 'BeforeToolSelection'])
/** Gemini CLI hands what a hook said at the start over inside the first prompt. */
const [INJECTED, INJECTED_END] = ['<hook_context>', '</hook_context>']

function withoutInjected(prompt: string): string {
  let left = prompt
  for (let from = left.indexOf(INJECTED); from >= 0; from = left.indexOf(INJECTED, from)) {
    const to = left.indexOf(INJECTED_END, from)
    if (to < 0) break
    left = left.slice(0, from) + left.slice(to + INJECTED_END.length)
  }
  return left.trim()
}

/** Gemini CLI wants JSON on stdout and nothing else, also where nothing is to be said. */
export const gemini: Dialect = {
  client: 'gemini',
  events: EVENTS,
  read(event, p) {
    const call = readCommon('gemini', EVENTS[event] ?? 'other', p)
    // it asks before every turn whether to compress; only a person's wish says that it will
    if (call.event === 'pre-compact' && text(p, 'trigger') !== 'manual') return { ...call, event: 'other' }
    return call.prompt === undefined ? call : { ...call, prompt: withoutInjected(call.prompt) }
  },
  print(event, given) {
    const reply = bounded(given)
    const visible =
      reply.visible ?? (reply.decision === 'warn' ? bounded({ visible: reply.reason }).visible : undefined)
    return answer({
      ...(event === 'BeforeTool' && refusal(reply)),
      hookSpecificOutput:
        reply.context && TELLS.has(event) ? { hookEventName: event, additionalContext: reply.context } : undefined,
      systemMessage: SILENT.has(event) ? undefined : visible,
    })
  },
  tells: (event) => TELLS.has(event),
}
