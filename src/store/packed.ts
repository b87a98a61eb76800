import type { DatabaseSync } from 'node:sqlite'

/** How many of the newest lines stay text. They are what hooks read, and to load node:zlib costs a hook 2.5 ms. */
export const AS_TEXT = 256
/** Lines are compressed once so many are due. */
export const PACK = 32
const AT_ONCE = 256
/** A longer line is compressed at once: an import or a large batch writes it, which takes longer than that. */
const LARGE = 16 << 10
/** A still longer one stays text. */
const MAX_BYTES = 64 << 20
/** So a compressed line begins: with a byte that no text has, and the version of the form. */
export const PACKED_BEGINS = Buffer.from([0xff, 0x74, 0x6c, 1])
const NEWLINE = 10

/** Up to which arrival lines were compressed. */
const PACKED_N = 'packed_n'
/** A line of the log as text, in a statement; `Db` has the function. */
export const LINE = "CASE typeof(line) WHEN 'text' THEN line ELSE line_text(line) END"

const zlib = () => process.getBuiltinModule('node:zlib')

interface Raw {
  u: { [entity: string]: string | number }
}

/** The text of a line, of its JSON with the length of each update in the update's place, and the updates themselves. */
function joined(head: string, updates: Buffer): string {
  const raw = JSON.parse(head) as Raw
  let at = 0
  for (const [entity, length] of Object.entries(raw.u))
    raw.u[entity] = updates.subarray(at, (at += Number(length))).toString('base64')
  return JSON.stringify(raw)
}

/** A line, compressed; what could not be made again letter by letter stays as it is. */
export function packLine(text: string): string | Uint8Array {
  if (text.length > MAX_BYTES / 4) return text
  try {
    const raw = JSON.parse(text) as Raw
    const updates = Object.entries(raw.u).map(([entity, update]) => {
      const bytes = Buffer.from(String(update), 'base64')
      raw.u[entity] = bytes.length
      return bytes
    })
    const head = JSON.stringify(raw)
    if (joined(head, Buffer.concat(updates)) !== text) return text
    return Buffer.concat([PACKED_BEGINS, zlib().deflateRawSync(Buffer.concat([Buffer.from(`${head}\n`), ...updates]))])
  } catch {
    return text // damaged
  }
}

/** How a line is kept that is new. */
export const keptLine = (text: string): string | Uint8Array => (text.length > LARGE ? packLine(text) : text)

/** The text of a line as it is kept; empty if it is damaged. */
export function lineText(kept: unknown): string {
  if (!(kept instanceof Uint8Array)) return String(kept)
  try {
    const all = zlib().inflateRawSync(kept.subarray(PACKED_BEGINS.length), { maxOutputLength: MAX_BYTES })
    const end = all.indexOf(NEWLINE)
    return joined(all.toString('utf8', 0, end), all.subarray(end + 1))
  } catch {
    return ''
  }
}

/** Where the next lines to be compressed begin and end; nothing while there are too few. */
export const DUE = `SELECT packed AS "from", arrived - asText AS upTo FROM (
  SELECT ? AS asText, ? AS least, coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key='${PACKED_N}'), 0) AS packed,
    coalesce((SELECT seq FROM sqlite_sequence WHERE name='log'), 0) AS arrived)
  WHERE arrived - packed >= asText + least`

/**
 * Compresses the oldest lines that are still text: a line takes a third of the space. The rows are written anew, since
 * SQLite joins pages only where rows go. The caller holds the write lock. Returns whether there was anything to do.
 */
export function packOlder(db: DatabaseSync, asText = AS_TEXT, least = PACK): boolean {
  const due = db.prepare(DUE).get(asText, least) as { from: number; upTo: number } | undefined
  if (!due) return false
  const rows = db.prepare('SELECT * FROM log WHERE n>? AND n<=? ORDER BY n LIMIT ?').all(due.from, due.upTo, AT_ONCE)
  const last = rows.length < AT_ONCE ? due.upTo : Number(rows.at(-1)!.n)
  db.prepare('DELETE FROM log WHERE n>? AND n<=?').run(due.from, last)
  const put = db.prepare('INSERT INTO log (n, replica, seq, hash, at, received, line) VALUES (?,?,?,?,?,?,?)')
  for (const { n, replica, seq, hash, at, received, line } of rows)
    put.run(n!, replica!, seq!, hash!, at!, received!, typeof line === 'string' ? packLine(line) : line!)
  db.prepare('INSERT OR REPLACE INTO meta VALUES (?,?)').run(PACKED_N, String(last))
  return true
}
