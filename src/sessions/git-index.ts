/** The entry stands for a folder whose files are not written out one by one (a sparse index). */
const FOLDER_MODE = 0o040000
const STAT_BYTES = 40
const EXTENDED = 0x4000

/** The length that an entry of version 4 takes off the name before it, and where its own part begins. */
function stripped(bytes: Buffer, from: number): { length: number; at: number } {
  let at = from
  let byte = bytes.readUInt8(at++)
  let length = byte & 127
  while (byte & 128) {
    byte = bytes.readUInt8(at++)
    length = (length + 1) * 128 + (byte & 127)
  }
  return { length, at }
}

/**
 * The paths in git's index, versions 2 to 4 (gitformat-index); folders of a sparse index end in `/`. Undefined where it
 * is of another kind, or says only what differs from an index that is shared: then git itself has to be asked.
 */
export function pathsInIndex(bytes: Buffer, hashBytes: 20 | 32): string[] | undefined {
  try {
    const version = bytes.readUInt32BE(4)
    if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return undefined
    const paths: string[] = []
    let at = 12
    let name = Buffer.alloc(0)
    for (let left = bytes.readUInt32BE(8); left > 0; left--) {
      const start = at
      const mode = bytes.readUInt32BE(start + 24)
      const flags = bytes.readUInt16BE(start + STAT_BYTES + hashBytes)
      at = start + STAT_BYTES + hashBytes + 2 + (version > 2 && flags & EXTENDED ? 2 : 0)
      const kept = version === 4 ? stripped(bytes, at) : { length: name.length, at }
      const end = bytes.indexOf(0, kept.at)
      if (end < 0 || kept.length > name.length) return undefined
      name = Buffer.concat([name.subarray(0, name.length - kept.length), bytes.subarray(kept.at, end)])
      // before version 4 one to eight zeros follow, so that entries begin at multiples of eight
      at = version === 4 ? end + 1 : end + 8 - ((end - start) % 8)
      const path = name.toString('utf8')
      paths.push((mode & 0o170000) === FOLDER_MODE && !path.endsWith('/') ? `${path}/` : path)
    }
    for (; at + 8 <= bytes.length - hashBytes; at += 8 + bytes.readUInt32BE(at + 4))
      if (bytes.toString('latin1', at, at + 4) === 'link') return undefined
    return paths
  } catch (error) {
    if (error instanceof RangeError) return undefined // it ends too early
    throw error
  }
}
