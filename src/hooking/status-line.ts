import { claimsOf } from '../sessions/claims.ts'
import type { HookReply } from './call.ts'
import type { Hook } from './hook.ts'

/** Keeps how full the context is, and prints one short line. */
export function statusLine(hook: Hook): HookReply {
  const { call, session, sessions, memory } = hook
  const used = call.contextUsed
  const live = sessions.list()
  const info = live.find((s) => s.id === session)
  if (info && used !== undefined) {
    const whole = Math.round(used)
    const stale = memory.env.now() - Number(info.data.contextAt ?? 0) > 60_000
    if (info.contextUsed !== whole || stale)
      hook.attempt('context used', () => sessions.patch(session, { contextUsed: whole, contextAt: memory.env.now() }))
  }
  const others = live.filter((s) => s.id !== session && s.parent === undefined).length
  const held = claimsOf(memory).held()
  const foreign = held.filter((c) => c.session !== session).length
  const parts = [
    others > 0 ? `${others} other session${others === 1 ? '' : 's'}` : 'alone',
    ...(held.length > 0
      ? [`${held.length} claim${held.length === 1 ? '' : 's'}${foreign > 0 ? ` (${foreign} of others)` : ''}`]
      : []),
    ...(used === undefined ? [] : [`context ${Math.round(used)}%`]),
    ...(hook.paused === undefined ? [] : ['capture paused']),
  ]
  return { line: `tidemark: ${parts.join(' · ')}` }
}
