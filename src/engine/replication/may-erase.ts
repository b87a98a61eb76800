import type { Db } from '../store/db.ts'
import { isKeyed, isKeyOf, isSameKey, isSignedBy } from '../store/keys.ts'
import type { Line } from '../store/line.ts'
import { ownIdentities, pinned } from '../store/own-lines.ts'
import type { SignedSnapshot } from './compaction.ts'
import { acceptedReviewers } from './reviewers.ts'
import { authorsOf } from './vouched.ts'

/** Whose words somebody may erase here. */
export interface MayErase {
  /** A replica of theirs; '*': whoever wrote it. */
  readonly as: string
  of(replica: string): boolean
}

/** Who asks: the author of a line, or the key that a folded state bears; without either, somebody who decides here. */
type Asker = { readonly author: string; readonly line?: Line } | { readonly key: string } | 'nobody' | undefined

/** The key that a folded state is signed with, if it is. */
export const keysOf = ({ by, text }: SignedSnapshot): Asker =>
  by && text !== undefined && isSignedBy(by, text) ? { key: by.key } : 'nobody'

/** Everybody may erase what they wrote, as their key shows. Whoever decides here may erase anything. */
export function mayErase(db: Db, asker: Asker): MayErase {
  const all: MayErase = { as: '*', of: () => true }
  if (asker === undefined) return all
  const authorOf = authorsOf(db)
  if (asker === 'nobody') return { as: '', of: () => false }
  if ('key' in asker) {
    const own = ownIdentities(db).some(({ replica }) => isKeyed(replica) && isKeyOf(asker.key, replica))
    if (own || Object.values(acceptedReviewers(db)).flat().includes(asker.key)) return all
    const theirs = (replica: string) => isKeyed(replica) && isKeyOf(asker.key, replica)
    return { as: '', of: (replica) => theirs(authorOf(replica)) }
  }
  const { author, line } = asker
  if (isKeyed(author)) return { as: author, of: (replica) => isSameKey(author, authorOf(replica)) }
  const pins = pinned(db)
  const pin = Object.hasOwn(pins, author) ? pins[author] : undefined
  const isProven = pin !== undefined && line !== undefined && line.v === 1 && line.seq >= pin.from
  return { as: author, of: (replica) => isProven && authorOf(replica) === author }
}
