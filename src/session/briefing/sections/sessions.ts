import { placeOf } from '../../../engine/claims/part.ts'
import { type Claim, claimsOf } from '../../../work/coordination/claims.ts'
import { nameOfSession, titleOfSession } from '../../../work/coordination/labels.ts'
import type { SessionInfo } from '../../../work/coordination/session-info.ts'
import { sessionsOf } from '../../../work/coordination/sessions.ts'
import { plain } from '../fence.ts'
import { many, minute } from '../format.ts'
import type { About, Item, Section } from '../types.ts'

const MAX_SESSIONS = 12
const NAMED = 6

export const sessions: Section = {
  name: 'sessions',
  title: 'Live sessions',
  share: 8,
  build(about) {
    const { memory, session } = about
    const live = sessionsOf(memory)
      .list()
      .filter((s) => s.id !== session && (session === undefined || s.parent !== session))
    const held = claimsOf(memory).held()
    const holds = (s: SessionInfo) => held.some((c) => c.session === s.id && !c.implicit)
    const shown = live.filter((s) => s.state === 'active' || s.task !== undefined || holds(s))
    if (shown.length === 0) return undefined
    const idle = live.length - shown.length
    // in the order in which they started, newest first: who spoke last must not change what a client has cached
    const listed = shown.slice(0, MAX_SESSIONS).sort((a, b) => b.started - a.started || (a.id < b.id ? -1 : 1))
    const items = listed.map((s): Item => {
      const own = held.filter((c) => c.session === s.id)
      const claims = own.filter((c) => !c.implicit).map((c) => claimed(c, about))
      return { id: s.id, ...itemOf(s, claims, about) }
    })
    return {
      items,
      beyond: shown.length - items.length,
      see: 'tidemark session list',
      note: idle === 0 ? undefined : `and ${idle} idle`,
      says: `${many(shown.filter((s) => s.parent === undefined).length, 'session')} live`,
    }
  },
}

const claimed = (c: Claim, about: About): string => {
  const { reader } = about
  const on =
    c.what === 'task' ? `task ${reader.entity(c.on)?.name ?? c.on}` : c.what === 'role' ? `role ${c.on}` : placeOf(c)
  return `${plain(on, 120)} until ${minute(c.until, about)}${c.note === undefined ? '' : ` (${plain(c.note, 100)})`}`
}

function itemOf(s: SessionInfo, claims: readonly string[], { reader, memory }: About): { text: string; short: string } {
  const parent = s.parent === undefined ? undefined : sessionsOf(memory).get(s.parent)
  const more = [parent && `subagent of ${titleOfSession(parent)}`, s.branch && `branch ${s.branch}`]
  const head = `- ${plain(nameOfSession(s, undefined, more), 240)}`
  const task = s.task === undefined ? undefined : reader.entity(s.task)
  const files = s.files.slice(-NAMED).map((f) => plain(f, 100))
  const lines = [
    head,
    task && `  task: ${plain(task.name, 160)}`,
    files.length > 0 && `  editing: ${files.join(', ')}`,
    claims.length > 0 && `  claims: ${claims.slice(0, NAMED).join('; ')}${claims.length > NAMED ? '; …' : ''}`,
  ]
  return { text: lines.filter(Boolean).join('\n'), short: claims.length > 0 ? `${head} claims: ${claims[0]}` : head }
}
