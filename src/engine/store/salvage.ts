import { existsSync, readFileSync } from 'node:fs'
import { attempt } from '../../base/errors.ts'
import { isBetter, type Line, parseLine } from './line.ts'
import { lineText, PACKED_BEGINS } from './packed.ts'
import { openSqlite } from './sqlite.ts'

/** So a log line begins, in form 1 or 2. */
const LINE_BEGINS = [1, 2].map((form) => Buffer.from(`{"v":${form},"r":"`))
const FRAME_HEADER = 24
const WAL_HEADER = 32
const LEAF_OF_TABLE = 13

/** The line that a text is, if its hash fits. */
export const soundLine = (text: string): Line | undefined => attempt(() => parseLine(text, true))

/** The sound lines of a damaged file: what SQLite reads, then what stands on its pages and in the write-ahead log. */
export function salvage(path: string): Line[] {
  const found = new Map<string, Line>()
  const take = (text: string) => {
    const line = soundLine(text)
    if (!line) return
    const key = `${line.replica}:${line.seq}`
    const there = found.get(key)
    if (!there || isBetter(line, there)) found.set(key, line)
  }
  if (existsSync(path)) for (const text of readByTable(path)) take(text)
  for (const text of readByPages(path)) take(text)
  return [...found.values()]
}

function* readByTable(path: string): Generator<string> {
  const seen = new Set<unknown>()
  for (const order of ['ASC', 'DESC']) {
    try {
      using db = openSqlite(path, { readOnly: true })
      for (const { n, line } of db.prepare(`SELECT n, line FROM log ORDER BY n ${order}`).iterate()) {
        if (seen.has(n)) break
        seen.add(n)
        yield lineText(line)
      }
    } catch {} // what can be read is what was read so far
  }
}

/** sqlite.org/fileformat2.html: cells of leaf pages, with what overflows onto other pages. */
function* readByPages(path: string): Generator<string> {
  const main = bytesOf(path)
  const wal = bytesOf(`${path}-wal`)
  const pageSize = sizeOf(
    wal.length >= WAL_HEADER ? wal.readUInt32BE(8) : 0,
    sizeOf(main.length > 17 ? main.readUInt16BE(16) : 0, 4096),
  )
  const frames = new Map<number, Buffer>()
  const pages: { page: Buffer; first: boolean }[] = []
  for (let at = WAL_HEADER; at + FRAME_HEADER + pageSize <= wal.length; at += FRAME_HEADER + pageSize) {
    const page = wal.subarray(at + FRAME_HEADER, at + FRAME_HEADER + pageSize)
    frames.set(wal.readUInt32BE(at), page)
    pages.unshift({ page, first: wal.readUInt32BE(at) === 1 }) // newest first
  }
  for (let at = 0; at + pageSize <= main.length; at += pageSize)
    pages.push({ page: main.subarray(at, at + pageSize), first: at === 0 })
  const inMain = (n: number) => main.subarray((n - 1) * pageSize, n * pageSize)
  const views = [(n: number) => frames.get(n) ?? inMain(n), inMain]
  for (const { page, first } of pages) {
    const head = first ? 100 : 0
    if (page[head] !== LEAF_OF_TABLE || beginOf(page) === -1) continue
    for (let i = 0; i < page.readUInt16BE(head + 3) && head + 10 + 2 * i <= pageSize; i++) {
      const length = varint(page, page.readUInt16BE(head + 8 + 2 * i))
      const start = varint(page, length.end).end
      const local = localPart(length.value, pageSize)
      if (length.value > main.length + wal.length || start + local > pageSize) continue
      const own = page.subarray(start, start + local)
      const begin = beginOf(own)
      if (begin === -1) continue
      for (const view of local < length.value ? views : [inMain]) {
        const parts = [own.subarray(begin)]
        let left = length.value - local
        for (
          let next = left > 0 && start + local + 4 <= pageSize ? page.readUInt32BE(start + local) : 0;
          left > 0 && next > 0;
        ) {
          const over = view(next)
          if (over.length < pageSize) break
          parts.push(over.subarray(4, 4 + Math.min(left, pageSize - 4)))
          left -= pageSize - 4
          next = over.readUInt32BE(0)
        }
        const kept = Buffer.concat(parts)
        if (left <= 0) yield kept[0] === PACKED_BEGINS[0] ? lineText(kept) : kept.toString('utf8')
      }
    }
  }
}

/** Where a line begins among these bytes, text or compressed. */
const beginOf = (bytes: Buffer): number =>
  Math.max(...[...LINE_BEGINS, PACKED_BEGINS].map((begin) => bytes.indexOf(begin)))

/** Nothing where it is not there, or not readable. */
const bytesOf = (path: string): Buffer => attempt(() => readFileSync(path)) ?? Buffer.alloc(0)

const sizeOf = (said: number, otherwise: number): number =>
  said >= 512 && said <= 65_536 && (said & (said - 1)) === 0 ? said : otherwise

function varint(page: Buffer, at: number): { value: number; end: number } {
  let value = 0
  for (let i = 0; i < 8; i++) {
    const byte = page[at + i] ?? 0
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return { value, end: at + i + 1 }
  }
  return { value: value * 256 + (page[at + 8] ?? 0), end: at + 9 }
}

/** How much of a payload stands in the cell itself. */
function localPart(length: number, usable: number): number {
  const most = usable - 35
  if (length <= most) return length
  const least = Math.floor(((usable - 12) * 32) / 255) - 23
  const some = least + ((length - least) % (usable - 4))
  return some <= most ? some : least
}
