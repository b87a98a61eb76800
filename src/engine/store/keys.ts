import type { KeyObject } from 'node:crypto'
import { attempt, unlessRefused } from '../../base/errors.ts'
import { keptIn } from '../../base/lookup.ts'
import { sha256 } from '../../model/digest.ts'
import { asSealed, type Line, printLine, printSigned, type Signature, textToSign } from './line.ts'
import { signedFirst } from './line-v1.ts'
import { makeState, readState } from './user-state.ts'

/** A replica's name ends in a digest of its public key, so nobody else can write under it. Without state it is short, and has no key. */
const OF_CHANCE = 4
const OF_KEY = 12
const digits = (n: bigint, length: number): string => (n % 36n ** BigInt(length)).toString(36).padStart(length, '0')
const ofKey = (key: string): string => digits(BigInt(`0x${sha256(key).slice(0, 24)}`), OF_KEY)

export function newTag(bytes: Uint8Array, key: string | undefined): string {
  const chance = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  return key === undefined ? digits(chance || 1n, 7) : digits(chance, OF_CHANCE) + ofKey(key)
}

/** Whether lines under this name count only if they are signed. */
export const isKeyed = (replica: string): boolean => replica.length === OF_CHANCE + OF_KEY
/** Whether a handle may be of a replica of this key: it shows the beginning of it. */
export const mayBeOf = (key: string, handle: string): boolean =>
  handle.length === 7 && ofKey(key).startsWith(handle.slice(OF_CHANCE))
export const isKeyOf = (key: string, replica: string): boolean => replica.slice(OF_CHANCE) === ofKey(key)

export const handleOf = (replica: string): string => replica.slice(0, 7)

/** A batch as people read it: with the beginning of its replica. */
export const shortBatch = (batch: string): string => {
  const [replica = '', seq = ''] = batch.split(':')
  return `${handleOf(replica)}:${seq}`
}

export const isSameKey = (a: string, b: string): boolean =>
  a === b || (isKeyed(a) && isKeyed(b) && a.slice(OF_CHANCE) === b.slice(OF_CHANCE))

// loaded by those who sign or check alone: it costs a hook 7 ms
const crypto = () => process.getBuiltinModule('node:crypto')

type Key = { readonly priv: KeyObject; readonly key: string }

const own = new Map<string, Key>()
/** This user's key for what this machine writes of a project; made at its first use. Nothing where no state can be kept. */
const ownKey = (project: string): Key | undefined =>
  unlessRefused(() => {
    const path = `keys/${project}`
    const made = () => crypto().generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
    const pem = readState(path) ?? makeState(path, String(made()))
    return keptIn(own, pem, () => {
      const priv = crypto().createPrivateKey(pem)
      return { priv, key: String(crypto().createPublicKey(priv).export({ format: 'jwk' }).x) }
    })
  })

/** The public key by which what this user shares of a project is known. */
export const publicKey = (project: string): string | undefined => ownKey(project)?.key

export function sign(project: string, text: string): Signature | undefined {
  const mine = ownKey(project)
  return mine && { key: mine.key, sig: signedBy(mine, text) }
}

const signedBy = ({ priv }: Key, text: string): string =>
  crypto().sign(null, Buffer.from(text), priv).toString('base64url')

export function isSignedBy({ key, sig }: Signature, text: string): boolean {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key }
  const isRight = attempt(() => {
    const known = crypto().createPublicKey({ key: jwk, format: 'jwk' })
    return crypto().verify(null, Buffer.from(text), known, Buffer.from(sig, 'base64url'))
  })
  return isRight ?? false
}

/** Why a line does not count as one of its replica, which has a key; nothing if it does. `rests`: the next line speaks for it. */
export function unsigned({ replica, signature }: Line, key = signature?.key, rests = false): string | undefined {
  if (signature === undefined) return 'is unsigned'
  if (key === undefined) return 'does not name its key'
  if (!isKeyOf(key, replica)) return 'is signed with another key than its replica has'
  const isSigned = rests || isSignedBy({ key, sig: signature.sig }, signature.text())
  return isSigned ? undefined : 'does not bear the signature of its replica'
}

/** Prints lines as they leave: own ones signed, others as they came. `keyOf`: the key of a replica; `names`: the line names it. */
export function leaving(
  project: string,
  keyOf: (replica: string) => string | undefined,
): (line: Line, names?: boolean) => string {
  const mine = ownKey(project)
  return (given, names = true) => {
    const line = asSealed(given)
    const { raw } = line
    if (raw.v === 1) {
      const isUnsigned = mine && raw.by.sig === undefined
      return isUnsigned ? signedFirst(line, mine.key, (text) => signedBy(mine, text)) : printLine(line)
    }
    if (raw.s !== undefined)
      return printSigned(line, { key: names ? (keyOf(line.replica) ?? raw.key ?? '') : '', sig: raw.s })
    const sig = mine && isKeyOf(mine.key, line.replica) ? signedBy(mine, textToSign(line)) : ''
    return printSigned(line, { key: sig === '' || !names ? '' : mine!.key, sig })
  }
}
