import type { Memory } from '../memory/memory.ts'
import { sessionsOf } from '../sessions/sessions.ts'
import type { HookReply } from './call.ts'
import { joined } from './hook.ts'

const MOST_CHARS = 3_000

/**
 * What is to be told to the agent at an event that takes nothing for it is kept with the session and goes with the next
 * answer that does.
 */
export function carried(memory: Memory, session: string, reply: HookReply, tells: boolean): HookReply {
  if (session === '') return reply
  const sessions = sessionsOf(memory)
  const kept = sessions.get(session)?.data.later
  const before = typeof kept === 'string' ? kept : undefined
  const warning = reply.decision === 'warn' ? reply.reason : undefined
  try {
    if (tells) {
      if (before === undefined) return reply
      sessions.patch(session, { later: null })
      return { ...reply, context: joined(before, reply.context)! }
    }
    const unsaid = joined(warning, reply.context)
    if (unsaid === undefined || reply.line !== undefined) return reply
    sessions.patch(session, { later: joined(before, unsaid)!.slice(-MOST_CHARS).toWellFormed() })
  } catch {} // the lock is not to be had: then it is not told
  return reply
}
