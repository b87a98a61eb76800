import { createHash } from 'node:crypto'

const PRIMES: number[] = []
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((p) => n % p !== 0)) PRIMES.push(n)
const fraction = (x: number): number => ((x - Math.floor(x)) * 2 ** 32) | 0
const ROUNDS = PRIMES.map((p) => fraction(Math.cbrt(p)))
const START = PRIMES.slice(0, 8).map((p) => fraction(Math.sqrt(p)))

const turned = (x: number, n: number): number => (x >>> n) | (x << (32 - n))

/** SHA-256 without node:crypto; for a few short texts. */
export function digest(data: string | Uint8Array): string {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  const padded = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) << 6))
  for (const [i, byte] of bytes.entries()) padded.setUint8(i, byte)
  padded.setUint8(bytes.length, 0x80)
  padded.setUint32(padded.byteLength - 4, bytes.length * 8)
  const hash = [...START]
  const w = new Int32Array(64)
  for (let at = 0; at < padded.byteLength; at += 64) {
    let [a, b, c, d, e, f, g, h] = hash as [number, number, number, number, number, number, number, number]
    for (let i = 0; i < 64; i++) {
      if (i < 16) w[i] = padded.getInt32(at + i * 4)
      else {
        const x = w[i - 15]!
        const y = w[i - 2]!
        const s0 = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3)
        const s1 = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10)
        w[i] = w[i - 16]! + s0 + w[i - 7]! + s1
      }
      const t1 = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i]! + w[i]!
      const t2 = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
      ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0]
    }
    for (const [i, x] of [a, b, c, d, e, f, g, h].entries()) hash[i] = (hash[i]! + x) | 0
  }
  return hash.map((x) => (x >>> 0).toString(16).padStart(8, '0')).join('')
}

/** Bytes of this process that are hashed here before node:crypto is loaded, which costs 7 ms: a hook needs no more. */
let own = 8_000

/** SHA-256 in hexadecimal; a text as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  own -= data.length + 64
  return own > 0 ? digest(data) : createHash('sha256').update(data).digest('hex')
}
