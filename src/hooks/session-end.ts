import { claimsOf } from '../coordination/claims.ts'
import { handOff } from './automatic-handoff.ts'
import type { HookReply } from './call.ts'
import { NOTHING } from './call.ts'
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

/** What a subagent edited for its role is done, with the first line of its last word as the result. */
function finishRole({ memory, session, role, author, call }: Hook): void {
  if (
    !role ||
    !claimsOf(memory)
      .held()
      .some((c) => c.session === session && c.role === role)
  )
    return
  const result = /^.{1,200}/u.exec(call.said?.trim() ?? '')?.[0]
  memory.act([['release', { role, status: 'complete', ...(result ? { result } : {}) }]], { ...author, redact: true })
}

export function subagentStop(hook: Hook): HookReply {
  if (hook.call.parent === undefined) return NOTHING
  hook.attempt('swarm state', () => finishRole(hook))
  hook.attempt('subagent stop', () => hook.sessions.end(hook.session, 'done'))
  return NOTHING
}
