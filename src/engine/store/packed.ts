import type { DatabaseSync } from 'node:sqlite'

/** How many of the newest lines stay text. They are what hooks read, and to load node:zlib costs a hook 2.5 ms. */
export const AS_TEXT = 256
/** Lines are compressed once so many are due. */
export const PACK = 32
const AT_ONCE = 256
/** A longer line is compressed at once: an import or a large batch writes it, which takes longer than that. */
const LARGE = 8 << 10
/** A still longer one stays text. */
const MAX_BYTES = 64 << 20
/** So a compressed line begins: with a byte that no text has, and the version of the form. Form 1 kept the updates of 0.1.0 apart. */
export const PACKED_BEGINS = Buffer.from([0xff, 0x74, 0x6c])
const FORM = PACKED_BEGINS.length
const NEWLINE = 10

/** Up to which arrival lines were compressed. */
const PACKED_N = 'packed_n'
/** A line of the log as text, in a statement; `Db` has the function. */
export const LINE = "CASE typeof(line) WHEN 'text' THEN line ELSE line_text(line) END"

/** What lines have in common: a short one takes half the space of its text with it, three quarters without. Never changed. */
const COMMON = Buffer.from(
  '"p":0}],["relationship:",{"f":"from","v":"},{"f":"to","v":"},{"f":"type","v":"relates-to"},{"f":"status","v":"active"},' +
    '["question:",{"f":"question","v":"["learning:["principle:["pattern:["task:["goal:["file:src/["concept:["chunk:["context:' +
    '{"f":"value","o":"put","v":","t":["=",["fact:",{"f":"fact","v":"},{"f":"category","v":"convention"},{"f":"evidence","o":"add","v":"' +
    '","l":1,"p":0},{"f":"tags","o":"remove","v":"],"x":[{"f":"description","v":"},{"f":"title","v":"},{"f":"body","v":"},' +
    '{"f":"provenance","o":"add","v":{"f":"tags","o":"add","v":"},{"f":"rationale","v":"},{"f":"confidence","v":0.},{"f":"@"}]],"h":"' +
    '{"v":2,"r":","n":,"p":","c":,"at":17,"by":{"session":","agent":"claude-code","user":","branch":"main","commit":","actor":"agent",' +
    '"tree":"},"for":{"intent":"},"e":[["decision:",{"f":"$"},{"f":"name","v":"',
)

const zlib = () => process.getBuiltinModule('node:zlib')

export const packLine = (text: string): string | Uint8Array =>
  text.length > MAX_BYTES / 4
    ? text
    : Buffer.concat([PACKED_BEGINS, Buffer.from([2]), zlib().deflateRawSync(text, { dictionary: COMMON })])

/** The text of a line of form 1: of its JSON, with the length of each update in the update's place, and the updates themselves. */
function joined(head: string, updates: Buffer): string {
  const raw = JSON.parse(head) as { u: { [entity: string]: string | number } }
  let at = 0
  for (const [entity, length] of Object.entries(raw.u))
    raw.u[entity] = updates.subarray(at, (at += Number(length))).toString('base64')
  return JSON.stringify(raw)
}

export const keptLine = (text: string): string | Uint8Array => (text.length > LARGE ? packLine(text) : text)

/** The text of a line as it is kept; empty if it is damaged. */
export function lineText(kept: unknown): string {
  if (!(kept instanceof Uint8Array)) return String(kept)
  try {
    const dictionary = kept[FORM] === 1 ? {} : { dictionary: COMMON }
    const all = zlib().inflateRawSync(kept.subarray(FORM + 1), { maxOutputLength: MAX_BYTES, ...dictionary })
    if (kept[FORM] !== 1) return all.toString('utf8')
    const end = all.indexOf(NEWLINE)
    return joined(all.toString('utf8', 0, end), all.subarray(end + 1))
  } catch {
    return ''
  }
}

export const DUE = `SELECT packed AS "from", arrived - asText AS upTo FROM (
  SELECT ? AS asText, ? AS least, coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key='${PACKED_N}'), 0) AS packed,
    coalesce((SELECT seq FROM sqlite_sequence WHERE name='log'), 0) AS arrived)
  WHERE arrived - packed >= asText + least`

/** Compresses the oldest lines that are still text. The caller holds the write lock. Returns whether any were due. */
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
