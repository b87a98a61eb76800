import { digest } from '../model/digest.ts'
import { foldText } from '../model/names.ts'
import type { Db } from '../store/db.ts'
import * as presence from '../store/presence.ts'

/** How many of the newest sentences of a session are kept. */
const TYPED_KEPT = 300
/** How deep subagents may be nested below the session in which the person types. */
const DEEPEST = 16

/** Of a sentence only this is kept: the same for other case, spacing, quotes and backquotes, and for nothing else. */
export const typedHash = (sentence: string): string =>
  digest(foldText(sentence.replace(/[’‘]/g, "'").replace(/[“”]/g, '"').replaceAll('`', ''))).slice(0, 20)

/** What the person typed in a session so far, and now, as it is kept. */
export function typedNow(before: unknown, sentences: readonly string[]): string[] {
  const said = [...new Set(sentences)].filter((s) => s.includes(' ')) // one word alone may be a password
  return typedWith(before, said.map(typedHash))
}

/** As `typedNow`, of what a hook could only keep as hashes. */
export const typedWith = (before: unknown, hashes: readonly string[]): string[] =>
  [...new Set([...(Array.isArray(before) ? before.map(String) : []), ...hashes])].slice(-TYPED_KEPT)

const listed = (data: presence.SessionRow['data'], key: string): readonly unknown[] =>
  Array.isArray(data[key]) ? data[key] : []

/**
 * Whether the person typed this in the session or in one above it, or in any session from whose prompt this entity was
 * captured. Kept by the prompt hook, on this machine alone.
 */
export function wasTyped(db: Db, sentence: string, session: string | undefined, entity: string): boolean {
  const hash = typedHash(sentence)
  let at = session
  for (let n = 0; at !== undefined && n < DEEPEST; n++) {
    const row = presence.getSession(db, at)
    if (row && listed(row.data, 'typed').includes(hash)) return true
    at = row?.parent
  }
  return presence
    .listSessions(db, true)
    .some((s) => listed(s.data, 'captured').includes(entity) && listed(s.data, 'typed').includes(hash))
}
