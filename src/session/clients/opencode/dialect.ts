import type { HookEvent } from '../../hooks/call.ts'
import { answer, bounded, type Dialect, refusal } from '../common/dialect.ts'
import { readCommon } from '../common/hook-call.ts'
import { idOf, number, record, sub, text } from '../common/payload.ts'

/**
 * opencode calls functions of a plugin; the plugin is ours and passes on, as JSON, what they were given:
 * `{sessionID, parentID?, agent?, directory, tool?, callID?, args?, output?, title?, metadata?, prompt?, tokens?, limit?, pid?}`
 * and takes `{context?, permission?: "deny"|"ask", reason?, message?}` back.
 */
const EVENTS: Readonly<Record<string, HookEvent>> = {
  'session.created': 'session-start',
  'chat.message': 'prompt',
  'tool.execute.before': 'before-tool',
  'tool.execute.after': 'after-tool',
  'session.idle': 'stop',
  'experimental.session.compacting': 'pre-compact',
  'session.compacted': 'post-compact',
  'session.deleted': 'session-end',
  dispose: 'session-end',
  'experimental.chat.system.transform': 'other',
  'session.error': 'other',
  'file.edited': 'other',
}

const TELLS = new Set(['session.created', 'chat.message', 'tool.execute.before', 'tool.execute.after', 'experimental.session.compacting']) // biome-ignore format: a list

export const opencode: Dialect = {
  client: 'opencode',
  events: EVENTS,
  read(event, p) {
    const own = idOf(text(p, 'sessionID', 'sessionId', 'session_id'))
    const parent = idOf(text(p, 'parentID', 'parentId'))
    const call = readCommon('opencode', EVENTS[event] ?? 'other', {
      ...p,
      session_id: own,
      tool_name: text(p, 'tool'),
      tool_input: p.args,
      tool_use_id: text(p, 'callID'),
      tool_response:
        p.metadata === undefined ? p.output : { ...record(p.metadata), metadata: p.metadata, output: p.output },
    })
    const tokens = sub(p, 'tokens')
    const cache = sub(tokens, 'cache')
    const window = number(p, 'limit') ?? 0
    const spent = [number(tokens, 'input'), number(cache, 'read'), number(cache, 'write'), number(tokens, 'output')]
    const used = spent.reduce<number>((sum, n) => sum + (n ?? 0), 0)
    return {
      ...call,
      shared: true,
      // a session of its own under the one that started it
      ...(parent !== '' && own !== '' ? { session: `${parent}/${own}`, parent } : {}),
      agent: (parent === '' ? undefined : text(p, 'agent')) ?? call.agent,
      cwd: text(p, 'directory', 'cwd'),
      contextUsed: window > 0 && used > 0 ? Math.min(100, (100 * used) / window) : undefined,
      pid: number(p, 'pid'),
    }
  },
  print(event, given) {
    const reply = bounded(given)
    const before = EVENTS[event] === 'before-tool'
    return answer({
      permission: before ? refusal(reply)?.decision : undefined,
      reason: before ? reply.reason : undefined,
      context: reply.context,
      message: reply.visible,
    })
  },
  tells: (event) => TELLS.has(event),
}
