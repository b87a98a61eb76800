import { type HookReply, NOTHING } from './call.ts'
import type { Hook } from './hook.ts'

/** A call of one of our own tools: the server that gets it learns from this whose it is (X7). */
export function beforeTool(hook: Hook): HookReply {
  const { tool } = hook.call
  if (tool?.id !== undefined && hook.session !== '' && /tidemark/i.test(tool.name)) {
    const id = tool.id
    hook.attempt('door', () => hook.sessions.door(`tool:${id}`, hook.session))
  }
  return NOTHING
}
