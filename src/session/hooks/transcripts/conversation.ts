import { pieces } from '../../../travel/formats/import/text.ts'
import type { Item, Reading } from '../../../travel/formats/import/types.ts'
import { type ReadOptions, turnsOf } from './transcript.ts'
import type { Said } from './turns.ts'

export type Kept = { readonly client: string; readonly id: string; said(): Iterable<Said> }

export type Typed = Readonly<{ text: string; at: number | undefined }>

/** What clients put into a session in the user's name. */
const PUT_IN =
  /^(?:# AGENTS\.md instructions|\[Request interrupted|Caveat: The messages below|This session is being continued)/
/** What is as short as that says nothing to anybody who was not there. */
const SHORT = { words: 3, characters: 12 }
const REDACTED = /\[redacted: ([^\]\n]{1,60})\]/g

/** The turns of a session with speaker and time: what user and agent said, and nothing that tools printed. */
export function readConversation(
  { client, id, said }: Kept,
  { since = 0, ...options }: ReadOptions & { since?: number },
): { reading: Reading; users: Typed[] } {
  const all = [...said()].filter(({ who, text }) => (who === 'user' || who === 'agent') && text.trim() !== '')
  const sourceFile = `${client}/${id}`
  const items: Item[] = []
  const users: Typed[] = []
  const redacted: { where: string; category: string }[] = []
  const counts = { sessions: 0, turns: 0, 'short turns left out': 0 }
  let position = 0
  let next = 0
  for (const { who, text, at, place } of turnsOf(all, options)) {
    position += place - next // what was left out keeps its place: nothing moves when more is
    next = place + 1
    const parts = pieces(text).filter((content) => content.trim() !== '')
    const first = position
    position += Math.max(1, parts.length)
    if ((at ?? Number.POSITIVE_INFINITY) < since || PUT_IN.test(text)) continue
    if (text.length < SHORT.characters && text.split(/\s+/).length < SHORT.words) {
      counts['short turns left out']++
      continue
    }
    counts.turns++
    if (who === 'user') users.push({ text, at })
    const where = `${sourceFile}#${place + 1}`
    for (const [, category] of text.matchAll(REDACTED)) redacted.push({ where, category: category! })
    for (const [i, content] of parts.entries()) {
      const date = at === undefined ? undefined : new Date(at).toISOString()
      const speaker = who === 'user' ? 'user' : client
      const args = { content, sourceFile, position: first + i, speaker, date, attrs: { client, session: id } }
      items.push({ verb: 'record-turn', args, where })
    }
  }
  if (items.length > 0) counts.sessions = 1
  // a session that a client has thrown away stays known
  return { reading: { items, unplaced: [], counts, redacted, partial: true }, users }
}
