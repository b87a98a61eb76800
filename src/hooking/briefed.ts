import type { HookReply } from './call.ts'
import type { Hook } from './hook.ts'

/** What a session is told as it begins. */
export async function briefing(hook: Hook, session: string): Promise<HookReply> {
  void session
  void hook
  return {}
}
