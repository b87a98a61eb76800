import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../base/errors.ts'
import { inspect, readInside, removeInside, writeInside } from '../../base/files.ts'
import { parseSnapshot, type SignedSnapshot } from '../../engine/replication/compaction.ts'
import { handleOf, isKeyed, unsigned } from '../../engine/store/keys.ts'
import { type Line, parseLine } from '../../engine/store/line.ts'
import { PROJECT_DIR } from '../../engine/store/project.ts'
import { sha256 } from '../../model/digest.ts'

const LOG_DIR = `${PROJECT_DIR}/log`
const REPLICA = /^[0-9a-z]{1,7}$/
const NAME = /^(\d{1,15})-(\d{1,15})-([0-9a-f]{16})\.jsonl$/
const MOST_BYTES = 64 * 1024 * 1024

/** A file with some consecutive lines of one replica; it is never changed. */
export interface Segment {
  /** The beginning of its name (`handleOf`). */
  readonly replica: string
  readonly first: number
  readonly last: number
  readonly hash: string
  readonly path: string
}

export interface Content {
  readonly lines: readonly Line[]
  readonly snapshots: readonly SignedSnapshot[]
  /** What is wrong with the file; what is sound in it was read all the same. */
  readonly damage?: string
}

const namesIn = (root: string, path: string): string[] =>
  inspect(root, path).is === 'directory' ? readdirSync(join(root, path)).sort() : []

export const logOf = (handle: string): string => `${LOG_DIR}/${handle}`

export function segmentNamed(path: string): Segment | undefined {
  const [dir = '', name = ''] = path.slice(LOG_DIR.length + 1).split('/', 2)
  const [, first, last, hash = ''] = NAME.exec(name) ?? []
  if (hash === '' || path !== `${LOG_DIR}/${dir}/${name}` || !REPLICA.test(dir)) return undefined
  return { replica: dir, first: Number(first), last: Number(last), hash, path }
}

/** Every segment of a work tree, replica by replica, in their order. */
export const segmentsIn = (root: string): Segment[] =>
  namesIn(root, LOG_DIR)
    .filter((replica) => REPLICA.test(replica))
    .flatMap((replica) =>
      namesIn(root, `${LOG_DIR}/${replica}`)
        .flatMap((name) => segmentNamed(`${LOG_DIR}/${replica}/${name}`) ?? [])
        .sort((a, b) => a.first - b.first || a.last - b.last),
    )

/** What changes when segments come or go: the directories' times. Nothing is read. */
export function signatureOf(root: string): { signature: string; newest: number } {
  let newest = 0
  const times = ['', ...namesIn(root, LOG_DIR).filter((name) => REPLICA.test(name))].map((name) => {
    const found = inspect(root, name === '' ? LOG_DIR : `${LOG_DIR}/${name}`)
    if (found.is !== 'directory') return `${name} ${found.is}`
    newest = Math.max(newest, found.stat.mtimeMs, found.stat.ctimeMs)
    return `${name} ${found.stat.ino} ${found.stat.mtimeMs}`
  })
  return { signature: times.join('\n'), newest }
}

const hashOf = (text: string | Uint8Array): string => sha256(text).slice(0, 16)

const SNAPSHOT = Buffer.from('{"snapshot"')
export const isSnapshot = (text: string): boolean => text.startsWith('{"snapshot"')

/** Git may have converted the line ends; JSON has none of its own. */
function bytesOf(root: string, { path }: Segment): Buffer | undefined {
  const bytes = readInside(root, path, MOST_BYTES)
  return bytes?.includes('\r\n') ? Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1') : bytes
}

/** What stands in a segment's file, line by line, before any of it is read. */
export interface Texts {
  readonly segment: Segment
  /** Those that look like lines of its replica. Nothing: the file cannot be read. */
  readonly texts?: readonly string[]
  readonly isWhole: boolean
  readonly hasOther?: boolean
}

export function textsOf(root: string, segment: Segment): Texts {
  const bytes = bytesOf(root, segment)
  return bytes ? textsIn(segment, bytes) : { segment, isWhole: false }
}

/** The same of what git holds. What is no line is not even decoded, however much of it there is. */
export function textsIn(segment: Segment, bytes: Buffer): Texts {
  const name = Buffer.from(`"r":"${segment.replica}`)
  const texts: string[] = []
  let hasOther = false
  let named = -1
  for (let from = 0, end = 0; from < bytes.length; from = end + 1) {
    end = bytes.indexOf(10, from)
    if (end < 0) end = bytes.length
    if (end === from) continue
    if (named < from && named >= -1) named = bytes.indexOf(name, from)
    if (named === -1) named = -2 // nowhere in the rest
    const isObject = bytes[from] === 0x7b && bytes[from + 1] === 0x22 && bytes[end - 1] === 0x7d
    if (isObject && ((named >= from && named < end) || bytes.subarray(from, from + SNAPSHOT.length).equals(SNAPSHOT)))
      texts.push(bytes.toString('utf8', from, end))
    else hasOther = true
  }
  return { segment, texts, isWhole: hashOf(bytes) === segment.hash, hasOther }
}

/** So many faults, and the rest of a file is left: nobody reads garbage to its end. */
const MOST_FAULTS = 32

/** How many of some lines that follow each other their replica has not signed. Mostly the last one tells. */
function unsignedAmong(lines: readonly Line[]): number {
  const isBad = (line: Line) => isKeyed(line.replica) && unsigned(line) !== undefined
  const last = lines.at(-1)
  return last && isBad(last) ? lines.filter(isBad).length : 0
}

/** Reads a segment: whole lines with a right hash are taken from a damaged one too. */
export function readSegment({ segment, texts, isWhole, hasOther }: Texts): Content {
  if (texts === undefined) return { lines: [], snapshots: [], damage: 'it cannot be read' }
  let damage = isWhole ? undefined : 'it is not what its name says: it was cut off or changed'
  if (hasOther) damage ??= 'it holds something else than lines of its replica'
  const lines: Line[] = []
  const snapshots: SignedSnapshot[] = []
  const isOf = (replica: string) => handleOf(replica) === segment.replica
  let key: string | undefined
  let faults = 0
  for (const [i, textLine] of texts.entries()) {
    if (i % MOST_FAULTS === 0) faults += unsignedAmong(lines.slice(-MOST_FAULTS))
    if (faults > MOST_FAULTS) {
      damage = `it holds more than ${MOST_FAULTS} lines that are damaged or not signed; the rest of it is left`
      break
    }
    if (isSnapshot(textLine)) {
      if (!isWhole) continue // it has no hash of its own
      try {
        const snapshot = parseSnapshot(textLine, isOf)
        if (snapshot) snapshots.push(snapshot)
        else damage ??= 'its snapshot is none of this replica'
      } catch {
        damage ??= 'a snapshot cannot be read'
      }
      continue
    }
    try {
      const line = parseLine(textLine, false, key)
      key = line.signature?.key ?? key
      if (isOf(line.replica)) lines.push(line)
      else damage ??= `it holds lines of ${line.replica}`
    } catch (error) {
      faults++
      // canonical text is made by recursion, and a line may be nested without end
      damage ??= error instanceof UserError ? error.message : 'a line cannot be read'
    }
  }
  return { lines, snapshots, ...(damage === undefined ? {} : { damage }) }
}

/** Writes a segment of some lines; returns it. One that is there already is the same. */
export function writeSegment(
  root: string,
  replica: string,
  first: number,
  last: number,
  texts: readonly string[],
): Segment {
  const text = `${texts.join('\n')}\n`
  // lines are cut into segments, the state of lines that were folded away is one text
  if (text.length > MOST_BYTES / 4 && Buffer.byteLength(text) > MOST_BYTES) {
    const message = `what was folded away of ${replica} before it was shared is larger than the 64 MB that others read (${(text.length / 2 ** 20).toFixed(0)} MB)`
    const hint =
      'nothing of it was written; share with `tidemark sync` before `tidemark doctor --compact` folds it away'
    throw new UserError('too-large', message, hint)
  }
  const path = `${logOf(handleOf(replica))}/${first}-${last}-${hashOf(text)}.jsonl`
  writeInside(root, path, text)
  return segmentNamed(path)!
}

/** The lines of a segment as texts, if it is what its name says. */
export function wholeTexts(root: string, segment: Segment): string[] | undefined {
  const { texts, isWhole } = textsOf(root, segment)
  return isWhole ? texts?.filter((l) => l !== '') : undefined
}

export const removeSegment = (root: string, { path }: Segment): boolean => removeInside(root, path)
