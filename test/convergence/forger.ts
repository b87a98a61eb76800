/** Writes lines by hand, with right hashes and signatures, whatever is in them: as somebody would who has read the format. */

import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { stable } from './oracle.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
type Raw = any
const b64 = (text: string) => createHash('sha256').update(text).digest('base64url')
const hex = (text: string) => createHash('sha256').update(text).digest('hex')
const part = (p: Raw) => (typeof p === 'string' ? p : b64(stable(p)))
const named = (id: string) =>
  /:purged-[0-9a-f]{64}$/.test(id) ? id : `${id.slice(0, id.indexOf(':'))}:purged-${hex(id)}`

function runOf(run: Raw): Raw {
  if (!Array.isArray(run) || typeof run[0] !== 'string') return run
  const events = run.slice(1).filter((e) => e !== null && typeof e === 'object')
  const salt = run.slice(1).find((e) => typeof e === 'string') ?? 0
  const content = (e: Raw) =>
    e.d ?? (e.v === undefined && e.t === undefined ? 0 : b64(JSON.stringify([e.v ?? null, e.t ?? 0])))
  const said = events.map((e) => [e.f, e.o ?? 0, e.p ?? 0, e.l ?? 0, e.x ?? 0, e.z ?? 0, content(e)])
  return [events.length, b64(JSON.stringify([named(run[0]), salt, said]))]
}
const markOf = (m: Raw) =>
  typeof m !== 'object' || m === null
    ? m
    : b64(JSON.stringify([m.r, m.n, m.h, named(String(m.e)), m.c ?? 0, m.w ?? 0, m.b ?? 0]))
const all = (v: Raw, f: (v: Raw) => Raw) => (Array.isArray(v) ? v.map(f) : v)

/** The hash of a line of version 2. */
export function hashOf(raw: Raw): string {
  const head = [2, raw.r, raw.n, raw.f ?? 0, raw.p ?? '', raw.c, raw.at, raw.l ?? 0, raw.u ?? 0, raw.k ?? 0]
  if (raw.o) return b64(JSON.stringify([...head, raw.o.h ?? hashOf(raw.o), ...(raw.b ? [raw.b] : [])]))
  const parts = [part(raw.by), raw.for === undefined ? 0 : part(raw.for)]
  return b64(JSON.stringify([...head, ...parts, all(raw.e, runOf), all(raw.x ?? [], markOf)]))
}

export interface Key {
  readonly key: string
  readonly tag: string
  sign(text: string): string
}

/** A key of somebody's own, and a replica that it may write as. */
export function newKey(chance: string): Key {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return keyOf(privateKey, String(publicKey.export({ format: 'jwk' }).x), chance)
}
export function keyOf(priv: KeyObject, key: string, chance: string): Key {
  const n = BigInt(`0x${hex(key).slice(0, 24)}`) % 36n ** 12n
  return {
    key,
    tag: `${chance}${n.toString(36).padStart(12, '0')}`,
    sign: (text) => sign(null, Buffer.from(text), priv).toString('base64url'),
  }
}

/** The line as it leaves its author; without a key, unsigned. */
export function printed(raw: Raw, by?: Key): string {
  const { h: _h, s: _s, key: _key, ...said } = raw
  if (!by) return JSON.stringify({ ...said, h: hashOf(said) })
  return JSON.stringify({ ...said, s: by.sign(`tidemark line ${hashOf(said)}`), key: by.key })
}

/** The same as 0.1.0 wrote it. */
export function printedFirst(raw: Raw): { text: string; hash: string } {
  const { h: _h, ...said } = raw
  const hash = hex(stable(said))
  return { text: JSON.stringify({ ...said, h: hash }), hash }
}
