import type { KeyObject } from 'node:crypto'
import { UserError } from '../errors.ts'
import type { Memory } from '../memory.ts'
import { isObject } from '../model/object.ts'
import type { Snapshot } from '../replication/compaction.ts'
import { firstOf, type Line, printReadable, signedPart } from '../store/line.ts'
import * as log from '../store/log.ts'
import { makeState, readState } from '../store/state.ts'
import { keepPins, pinned } from '../store/trust.ts'

/** What a replica's line or snapshot bears: the public key that it announces, and the signature. Ed25519, in base64url. */
export interface Signature {
  readonly key: string
  readonly sig: string
}

/** A line that is dated later than this is put aside: a clock is wrong, or somebody wants the last word for ever. */
const MOST_AHEAD_MS = 86_400_000

// loaded by those who write or read a segment alone: it costs a hook 7 ms
const crypto = () => process.getBuiltinModule('node:crypto')
const keyPath = (project: string) => `keys/${project}`

const own = new Map<string, { priv: KeyObject; key: string }>()
/** This user's key for what this machine writes of a project; made at its first use. Nothing where no state can be kept. */
function ownKey(project: string): { priv: KeyObject; key: string } | undefined {
  const path = keyPath(project)
  try {
    const pem =
      readState(path) ??
      makeState(
        path,
        String(crypto().generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })),
      )
    const known = own.get(pem)
    if (known) return known
    const priv = crypto().createPrivateKey(pem)
    const made = { priv, key: String(crypto().createPublicKey(priv).export({ format: 'jwk' }).x) }
    own.set(pem, made)
    return made
  } catch (error) {
    if (error instanceof UserError) return undefined
    throw error
  }
}

type OwnKey = ReturnType<typeof ownKey>

const sign = ({ priv }: NonNullable<OwnKey>, text: string): string =>
  crypto().sign(null, Buffer.from(text), priv).toString('base64url')

function isBy({ key, sig }: Signature, text: string): boolean {
  try {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: key }
    const known = crypto().createPublicKey({ key: jwk, format: 'jwk' })
    return crypto().verify(null, Buffer.from(text), known, Buffer.from(sig, 'base64url'))
  } catch {
    return false
  }
}

/**
 * A line as it leaves this machine: signed, in its header. It stands in under the hash of the line it was, so that readers
 * which know of no signatures read it as any other.
 */
export const printSigned = (memory: Memory, line: Line): string => signer(memory)(line)

/** The same for many lines: the key is read from the disk once. */
export function signer({ projectId }: Memory): (line: Line) => string {
  const mine = ownKey(projectId)
  return (line) => {
    const { key: _key, sig: _sig, ...said } = line.author
    if (!mine) return printReadable({ ...line, author: said })
    const announced: Line = { ...line, author: { ...said, key: mine.key }, substitute: true }
    const sig = sign(mine, signedPart(announced))
    return printReadable({ ...announced, author: { ...announced.author, sig } })
  }
}

/** Lines that follow each other: the last one's signature speaks of those before it, whose hashes it rests on. */
export const printRun = (memory: Memory, run: readonly Line[]): string[] =>
  run.map((line, i) => (line.substitute || i === run.length - 1 ? printSigned(memory, line) : printReadable(line)))

export function printSignedSnapshot({ projectId }: Memory, snapshot: Snapshot): string {
  const mine = ownKey(projectId)
  const by = mine && { key: mine.key, sig: sign(mine, JSON.stringify(snapshot)) }
  return JSON.stringify({ snapshot, ...(by ? { by } : {}) })
}

/** The signature of a snapshot's text. */
export function snapshotSignature(text: string): Signature | undefined {
  const { by } = JSON.parse(text) as { by?: unknown }
  return isObject(by) && typeof by.key === 'string' && typeof by.sig === 'string'
    ? { key: by.key, sig: by.sig }
    : undefined
}

export type SignedSnapshot = Snapshot & { readonly by?: Signature | undefined }

/**
 * Refuses what another than its replica has written: a key is taken at its first use, and from then on every line of the
 * replica bears it. Lines from before are unsigned. What is dated too far ahead is refused until then.
 * @throws UserError for the first that is not to be taken
 */
export function checkSigned(memory: Memory, lines: readonly Line[], snapshots: readonly SignedSnapshot[]): void {
  const { db, env } = memory
  const pins = pinned(db)
  let isNew = false
  const pinOf = (replica: string) => (Object.hasOwn(pins, replica) ? pins[replica] : undefined)
  const check = (replica: string, seq: number, by: Signature | undefined, text: () => string, isExchanged = false) => {
    const pin = pinOf(replica)
    const refuse = (why: string): never => {
      throw new UserError(
        'line-not-signed',
        `line ${seq} of replica ${replica} ${why}`,
        'ask whoever pushed it; nothing of it was taken',
      )
    }
    if (isExchanged) refuse('is not the one that its replica went on from')
    if (by === undefined)
      return pin && seq >= pin.from ? refuse('is unsigned, and that replica signs what it writes') : undefined
    if (pin && pin.key !== by.key) refuse('is signed with another key than the replica is known by')
    if (!isBy(by, text())) refuse('does not bear the signature of its replica')
    pinFrom(replica, seq, by.key)
  }
  const pinFrom = (replica: string, seq: number, key: string) => {
    const pin = pinOf(replica)
    if (pin && (pin.from <= seq || pin.key !== key)) return
    pins[replica] = { key, from: seq }
    isNew = true
  }
  /** What a later line, which is signed, rests on. A line that stands in for another has its hash in name alone. */
  let rested: { replica: string; seq: number; hash: string } | undefined
  for (const line of [...lines].reverse()) {
    if (line.at > env.now() + MOST_AHEAD_MS)
      throw new UserError(
        'line-ahead',
        `line ${line.seq} of replica ${line.replica} is dated ${new Date(line.at).toISOString()}, more than a day ahead`,
        'set the clock of whoever wrote it; it is taken when that moment has come',
      )
    const { key, sig } = line.author
    const by = key === undefined || sig === undefined ? undefined : { key, sig }
    const isNext = rested?.replica === line.replica && rested.seq === line.seq
    const isOfHash = line.whole === true || (by === undefined && !line.substitute)
    const isCovered = isNext && line.hash === rested?.hash && isOfHash
    // what is here already is not read again
    const isKnown = !isCovered && log.hashOf(db, line.replica, line.seq) === line.hash
    if (isCovered && by) pinFrom(line.replica, line.seq, by.key)
    else if (!isCovered && !isKnown)
      check(line.replica, line.seq, by, () => signedPart(line), isNext && line.hash !== rested?.hash)
    const isSigned = isCovered || (by !== undefined && (!isKnown || isOfHash))
    rested = isSigned ? { replica: line.replica, seq: firstOf(line) - 1, hash: line.prev } : undefined
  }
  for (const { by, ...snapshot } of snapshots)
    for (const { replica, seq } of snapshot.covered) check(replica, seq, by, () => JSON.stringify(snapshot))
  if (isNew) db.write(() => keepPins(db, pins))
}

/** The public key by which what this user shares of a project is known. */
export const publicKey = ({ projectId }: Memory): string | undefined => ownKey(projectId)?.key
