import { gunzipSync } from 'node:zlib'

const BLOCK = 512

/** The files of a gzipped tar archive whose paths are wanted. Their paths must be of the old kind, under 256 bytes. */
export function readTarball(gzipped: Uint8Array, wanted: ReadonlySet<string>): Map<string, Uint8Array> {
  const bytes = gunzipSync(gzipped)
  const text = (from: number, length: number) => {
    const end = bytes.indexOf(0, from)
    return bytes.toString('utf8', from, end < 0 ? from + length : Math.min(end, from + length))
  }
  const files = new Map<string, Uint8Array>()
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12).trim(), 8) || 0
    const prefix = text(at + 345, 155)
    const path = prefix ? `${prefix}/${text(at, 100)}` : text(at, 100)
    const body = at + BLOCK
    if (wanted.has(path)) files.set(path, new Uint8Array(bytes.subarray(body, body + size)))
    at = body + Math.ceil(size / BLOCK) * BLOCK
  }
  return files
}
