import { redact } from '../../base/secrets/find.ts'
import { withoutPrivate } from '../../base/secrets/screen.ts'
import { defined } from '../../model/object.ts'
import { claimsOf } from '../../work/coordination/claims.ts'
import { handOff } from './automatic-handoff.ts'
import { type HookReply, NOTHING } from './call.ts'
import type { Hook } from './hook.ts'

export async function sessionEnd(hook: Hook): Promise<HookReply> {
  const { call, session, sessions } = hook
  if (session === '') return NOTHING
  if (call.parent === undefined && call.reason !== 'clear')
    await hook.attemptLater('observed', async () => (await import('./observe.ts')).leaves(hook))
  await handOff(hook, 'session end')
  // the same client goes on at once under another id, and takes over what this one holds
  if (call.reason === 'clear' && sessions.get(session)?.process !== undefined) return NOTHING
  hook.attempt('session end', () => sessions.end(session, call.reason ?? 'ended'))
  return NOTHING
}

export async function agentsRetro(hook: Hook, session: string): Promise<void> {
  await hook.attemptLater('micro-retro', async () => {
    const observed = hook.memory.reader.list('observation', { since: hook.sessions.get(session)?.started, limit: 1 })
    if (observed.length > 0) (await import('../../work/evolution/micro-retro.ts')).retroOfAgents(hook.memory, session)
  })
}

/** What a subagent edited for its role is done, with the first line of its last word as the result. */
function finishRole({ memory, session, role, author, call }: Hook): void {
  const held = claimsOf(memory).held()
  if (!role || !held.some((c) => c.session === session && c.role === role)) return
  const result = /^.{1,200}/u.exec(redact(withoutPrivate(call.said ?? '')).trim())?.[0]
  memory.act([['release', defined({ role, status: 'complete', result })]], { ...author, redact: true })
}

export async function subagentStop(hook: Hook): Promise<HookReply> {
  if (hook.call.parent === undefined) return NOTHING
  hook.attempt('swarm state', () => finishRole(hook))
  hook.attempt('subagent stop', () => hook.sessions.end(hook.session, 'done'))
  await agentsRetro(hook, hook.sessions.resolve(hook.call.parent))
  return NOTHING
}
