import { hash } from 'node:crypto'

const PRIMES: number[] = []
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((p) => n % p !== 0)) PRIMES.push(n)
const fraction = (x: number): number => ((x - Math.floor(x)) * 2 ** 32) | 0
const ROUNDS = PRIMES.map((p) => fraction(Math.cbrt(p)))
const START = PRIMES.slice(0, 8).map((p) => fraction(Math.sqrt(p)))

const w = new Int32Array(64)

/** SHA-256 (FIPS 180-4) without node:crypto; for a few short texts: written for an engine that has not warmed up. */
export function digest(data: string | Uint8Array): string {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data
  const padded = Buffer.alloc(((bytes.length + 72) >> 6) << 6)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  padded.writeUInt32BE(Math.floor(bytes.length / 2 ** 29), padded.length - 8)
  padded.writeUInt32BE((bytes.length * 8) >>> 0, padded.length - 4)
  const state = Int32Array.from(START)
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = padded.readInt32BE(at + i * 4)
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15]!
      const y = w[i - 2]!
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
      w[i] = w[i - 16]! + s0 + w[i - 7]! + s1
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
      const t = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i]! + w[i]!) | 0
      h = g
      g = f
      f = e
      e = (d + t) | 0
      d = c
      const m = (a & b) ^ (a & c) ^ (b & c)
      c = b
      b = a
      a = (t + s0 + m) | 0
    }
    state[0]! += a
    state[1]! += b
    state[2]! += c
    state[3]! += d
    state[4]! += e
    state[5]! += f
    state[6]! += g
    state[7]! += h
  }
  let hex = ''
  for (const x of state) hex += (x >>> 0).toString(16).padStart(8, '0')
  return hex
}

/** Bytes of this process that are hashed here before node:crypto is loaded, which costs 7 ms: a hook needs no more. */
let own = 8_000

/** SHA-256 in hexadecimal; a text as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  own -= data.length + 64
  return own > 0 ? digest(data) : hash('sha256', data)
}

/** The same in base64url: 43 characters, for what is kept many times. */
export function digest64(text: string): string {
  own -= text.length + 64
  return own > 0 ? Buffer.from(digest(text), 'hex').toString('base64url') : hash('sha256', text, 'base64url')
}
