import { randomBytes as fromCrypto } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'

/** As node:crypto gives, which costs a hook 7 ms to load: where the system has a file of random bytes, from there. */
export function randomBytes(n: number): Buffer {
  let fd: number | undefined
  try {
    fd = openSync('/dev/urandom', 'r')
    const bytes = Buffer.alloc(n)
    if (readSync(fd, bytes) === n) return bytes
  } catch {
    // a system without it
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
  return fromCrypto(n)
}
