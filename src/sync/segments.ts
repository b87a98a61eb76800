import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../errors.ts'
import { inspect, readInside, removeInside, writeInside } from '../files.ts'
import { sha256 } from '../model/digest.ts'
import { parseSnapshot, type SignedSnapshot } from '../replication/compaction.ts'
import { handleOf } from '../store/keys.ts'
import { type Line, parseLine } from '../store/line.ts'
import { PROJECT_DIR } from '../store/project.ts'
import { linesIn } from './frames.ts'

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
  /** Below the project's root. */
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

/** The directory of a replica's segments, below the root. */
export const logOf = (handle: string): string => `${LOG_DIR}/${handle}`

/** The segment of a path below the root. */
export function segmentNamed(path: string): Segment | undefined {
  const [dir = '', name = ''] = path.slice(LOG_DIR.length + 1).split('/', 2)
  const [, first, last, hash = ''] = NAME.exec(name) ?? []
  if (hash === '' || path !== `${LOG_DIR}/${dir}/${name}` || !REPLICA.test(dir)) return undefined
  return { replica: dir, first: Number(first), last: Number(last), hash, path }
}

/** Every segment of a work tree, replica by replica, in their order. */
export function segmentsIn(root: string): Segment[] {
  return namesIn(root, LOG_DIR)
    .filter((replica) => REPLICA.test(replica))
    .flatMap((replica) =>
      namesIn(root, `${LOG_DIR}/${replica}`)
        .flatMap((name) => segmentNamed(`${LOG_DIR}/${replica}/${name}`) ?? [])
        .sort((a, b) => a.first - b.first || a.last - b.last),
    )
}

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

export const isSnapshot = (text: string): boolean => text.startsWith('{"snapshot"')

/** Git may have converted the line ends; JSON has none of its own. */
function bytesOf(root: string, { path }: Segment): Buffer | undefined {
  const bytes = readInside(root, path, MOST_BYTES)
  return bytes?.includes('\r\n') ? Buffer.from(bytes.toString('utf8').replaceAll('\r\n', '\n')) : bytes
}

/** What stands in a segment's file, line by line, before any of it is read. */
export interface Texts {
  readonly segment: Segment
  /** Nothing: it cannot be read. */
  readonly texts?: readonly string[]
  readonly isWhole: boolean
}

export function textsOf(root: string, segment: Segment): Texts {
  const bytes = bytesOf(root, segment)
  return bytes ? textsIn(segment, bytes) : { segment, isWhole: false }
}

/** The same of what git holds. */
export const textsIn = (segment: Segment, bytes: Buffer): Texts => ({
  segment,
  texts: linesIn(bytes),
  isWhole: hashOf(bytes) === segment.hash,
})

/** Reads a segment: whole lines with a right hash are taken from a damaged one too. */
export function readSegment({ segment, texts, isWhole }: Texts): Content {
  if (texts === undefined) return { lines: [], snapshots: [], damage: 'it cannot be read' }
  let damage = isWhole ? undefined : 'it is not what its name says: it was cut off or changed'
  const lines: Line[] = []
  const snapshots: SignedSnapshot[] = []
  const isOf = (replica: string) => handleOf(replica) === segment.replica
  let key: string | undefined
  for (const textLine of texts) {
    if (textLine === '') continue
    // nothing else is parsed, however much of it there is
    if (!isLine(textLine)) {
      damage ??= 'it holds something else than lines of the log'
      continue
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
      // canonical text is made by recursion, and a line may be nested without end
      damage ??= error instanceof UserError ? error.message : 'a line cannot be read'
    }
  }
  return { lines, snapshots, ...(damage === undefined ? {} : { damage }) }
}

const isLine = (text: string): boolean => text.startsWith('{"') && text.endsWith('}')

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
  if (text.length > MOST_BYTES / 4 && Buffer.byteLength(text) > MOST_BYTES)
    throw new UserError(
      'too-large',
      `what was folded away of ${replica} before it was shared is larger than the 64 MB that others read (${(text.length / 2 ** 20).toFixed(0)} MB)`,
      'nothing of it was written; share with `tidemark sync` before `tidemark doctor --compact` folds it away',
    )
  const hash = hashOf(text)
  const handle = handleOf(replica)
  const path = `${LOG_DIR}/${handle}/${first}-${last}-${hash}.jsonl`
  writeInside(root, path, text)
  return { replica: handle, first, last, hash, path }
}

/** The lines of a segment as texts, if it is what its name says. */
export function wholeTexts(root: string, segment: Segment): string[] | undefined {
  const { texts, isWhole } = textsOf(root, segment)
  return isWhole ? texts?.filter((l) => l !== '') : undefined
}

export const removeSegment = (root: string, { path }: Segment): boolean => removeInside(root, path)
