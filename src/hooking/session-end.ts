import type { HookReply } from './call.ts'
import { NOTHING } from './call.ts'
import { handOff } from './handed-off.ts'
import type { Hook } from './hook.ts'

/** What it leaves is written down, what it holds is free. */
export async function sessionEnd(hook: Hook): Promise<HookReply> {
  const { call, session, sessions } = hook
  if (session === '') return NOTHING
  await handOff(hook, 'session end')
  // the same client goes on at once under another id, and takes over what this one holds
  if (call.reason === 'clear' && sessions.get(session)?.process !== undefined) return NOTHING
  hook.attempt('session end', () => sessions.end(session, call.reason ?? 'ended'))
  return NOTHING
}

export function subagentStop(hook: Hook): HookReply {
  if (hook.call.parent !== undefined) hook.attempt('subagent stop', () => hook.sessions.end(hook.session, 'done'))
  return NOTHING
}
