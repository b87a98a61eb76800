import { UserError } from '../../base/errors.ts'
import type { Memory } from '../../engine/memory.ts'
import type { SignedSnapshot } from '../../engine/replication/compaction.ts'
import { isKeyed, isKeyOf, isSignedBy } from '../../engine/store/keys.ts'
import type { Line, Signature } from '../../engine/store/line.ts'
import * as log from '../../engine/store/log.ts'
import { keepPins, pinned } from '../../engine/store/own-lines.ts'

type Store = Pick<Memory, 'db'>

const refused = (replica: string, seq: number, why: string) => {
  const hint = 'ask whoever pushed it; nothing of it was taken'
  return new UserError('line-not-signed', `line ${seq} of replica ${replica} ${why}`, hint)
}

/** Refuses a folded state of a replica that has a key, if it is not signed with that. @throws UserError */
export function checkSnapshot(memory: Store, { by, text, covered }: SignedSnapshot): void {
  for (const { replica, last } of covered)
    if (!isKeyed(replica)) checkFirst(memory, replica, last, by, () => text ?? '')
    else if (!by || !isKeyOf(by.key, replica) || !isSignedBy(by, text ?? ''))
      throw refused(replica, last, 'does not bear the signature of its replica')
}

/** A key is taken at its first use, and from then on every line of the replica bears it. Lines from before are unsigned. */
function checkFirst(memory: Store, replica: string, seq: number, by: Signature | undefined, text: () => string): void {
  const pin = pinOf(memory, replica)
  if (by === undefined) {
    if (pin && seq >= pin.from) throw refused(replica, seq, 'is unsigned, and that replica signs what it writes')
    return
  }
  if (pin && pin.key !== by.key) throw refused(replica, seq, 'is signed with another key than the replica is known by')
  if (!isSignedBy(by, text())) throw refused(replica, seq, 'does not bear the signature of its replica')
  keepPin(memory, replica, seq, by.key)
}

function pinOf({ db }: Store, replica: string) {
  const pins = pinned(db)
  return Object.hasOwn(pins, replica) ? pins[replica] : undefined
}

function keepPin({ db }: Store, replica: string, seq: number, key: string): void {
  const pin = pinOf({ db }, replica)
  if (pin && (pin.from <= seq || pin.key !== key)) return
  db.write(() => keepPins(db, { [replica]: { key, from: seq } }))
}

/**
 * Refuses lines of 0.1.0 that another than their replica has written. The last line of a file speaks for those before it, whose
 * hashes it rests on. Newer lines bear a signature each: those are checked where they are taken in.
 * @throws UserError for the first that is not to be taken
 */
export function checkFirstLines(memory: Store, lines: readonly Line[]): void {
  let rested: { replica: string; seq: number; hash: string } | undefined
  for (const line of lines.filter((l) => l.v === 1).reverse()) {
    const { key, sig } = line.signature ?? {}
    const by = key === undefined || sig === undefined ? undefined : { key, sig }
    const isNext = rested?.replica === line.replica && rested.seq === line.seq
    const isOfHash = !line.partial
    const isCovered = isNext && line.hash === rested?.hash && isOfHash
    // what is here already is not read again
    const isKnown = !isCovered && log.hashOf(memory.db, line.replica, line.seq) === line.hash
    if (isCovered && by) keepPin(memory, line.replica, line.seq, by.key)
    else if (!isCovered && !isKnown) {
      if (isNext && line.hash !== rested?.hash)
        throw refused(line.replica, line.seq, 'is not the one that its replica went on from')
      checkFirst(memory, line.replica, line.seq, by, () => line.signature!.text())
    }
    const isSigned = isCovered || (by !== undefined && (!isKnown || isOfHash))
    rested = isSigned ? { replica: line.replica, seq: line.from - 1, hash: line.prev } : undefined
  }
}
