import type { Memory } from '../../engine/memory.ts'
import { sessionsOf } from '../../work/coordination/sessions.ts'
import { closed } from '../briefing/fence.ts'
import type { HookReply } from './call.ts'
import { joined } from './hook.ts'

const MAX_CHARS = 4_000

/** The newest that there is room for, each whole: half of one would stand without the fence before it. */
function fitting(texts: readonly string[]): string[] {
  let room = MAX_CHARS
  const from = texts.findLastIndex((text) => (room -= text.length + 2) < 0) + 1
  const last = texts.at(-1)!
  return from < texts.length ? texts.slice(from) : [closed(last.slice(0, MAX_CHARS).replace(/\n[^\n]*$/, ''))]
}

/** Context that an event cannot carry is delivered with the next one that can. */
export function carried(memory: Memory, session: string, reply: HookReply, tells: boolean): HookReply {
  if (session === '') return reply
  const sessions = sessionsOf(memory)
  const kept = sessions.get(session)?.data.later
  const before = (Array.isArray(kept) ? kept : [kept]).filter((text) => typeof text === 'string')
  try {
    if (tells) {
      if (before.length === 0) return reply
      sessions.patch(session, { later: null })
      return { ...reply, context: joined(...before, reply.context)! }
    }
    const unsaid = joined(reply.decision === 'warn' ? reply.reason : undefined, reply.context)
    if (unsaid === undefined || reply.line !== undefined) return reply
    sessions.patch(session, { later: fitting([...before, unsaid.toWellFormed()]) })
  } catch {} // the lock is not to be had: then it is not told
  return reply
}
