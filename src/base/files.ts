import * as fs from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRunning, thisHost } from './env.ts'
import { attempt, UserError, whenCode } from './errors.ts'

/** A larger file is no note and no setting; reading it whole would take the process's memory. */
const MOST_BYTES = 16 * 1024 * 1024
const NO_FOLLOW = fs.constants.O_NOFOLLOW ?? 0 // Windows has neither
const NO_WAIT = fs.constants.O_NONBLOCK ?? 0
/** A file system keeps times less exactly than the clock does. */
export const SLACK_MS = 50

export const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

/** What lies at a path below a root. `unsafe`: a link on the way, a path out of the root, a pipe, a device. */
export type Found =
  | { readonly is: 'nothing' }
  | { readonly is: 'file' | 'directory'; readonly stat: fs.Stats }
  | { readonly is: 'unsafe'; readonly why: string }

/** The parts of a path below a root; undefined where it is none, or leads out of it. */
function partsOf(path: string): string[] | undefined {
  const parts = path.split(process.platform === 'win32' ? /[\\/]/ : '/')
  return parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0')) ? undefined : parts
}

/** A path by its way from a root, where it lies below it as it is written; nothing is looked at. */
export function pathIn(root: string, path: string): string | undefined {
  const way = relative(root, path)
  return way === '' || way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way) ? undefined : way
}

/** Looks at a path without following any link below the root. The root itself is trusted, whatever leads to it. */
export function inspect(root: string, path: string): Found {
  const parts = partsOf(path)
  const outside: Found = { is: 'unsafe', why: `${JSON.stringify(path)} is no path inside ${root}` }
  if (!parts) return outside
  let at = root
  for (const [n, part] of parts.entries()) {
    at = `${at}/${part}` // quicker than join, and each hook comes here a dozen times
    let stat: fs.Stats | undefined
    try {
      stat = fs.lstatSync(at, { throwIfNoEntry: false })
    } catch (error) {
      return { is: 'unsafe', why: `${at} cannot be looked at (${codeOf(error)})` }
    }
    if (!stat) return { is: 'nothing' }
    if (stat.isSymbolicLink()) return { is: 'unsafe', why: `${at} is a symbolic link` }
    if (n < parts.length - 1) {
      if (!stat.isDirectory()) return { is: 'unsafe', why: `${at} is no directory` }
    } else if (stat.isDirectory()) return { is: 'directory', stat }
    else return stat.isFile() ? { is: 'file', stat } : { is: 'unsafe', why: `${at} is no regular file` }
  }
  return outside
}

function refuse(path: string, why: string): never {
  const hint = 'remove it or put a plain file there: Tidemark follows no link inside a project'
  throw new UserError('unsafe-path', why, hint, { path })
}

/** Whether a file belongs to the user that runs this process, as git asks for its `safe.directory`. */
export function isOwn({ uid }: fs.Stats): boolean {
  const me = process.geteuid?.()
  return me === undefined || uid === me || (me === 0 && uid === Number(process.env.SUDO_UID ?? Number.NaN))
}

/** Opens a regular file and nothing else: a pipe or a device neither blocks nor is read. */
function openFile(path: string, flags: number, mode?: number): Open | undefined {
  const open = closing(fs.openSync(path, flags | NO_WAIT, mode))
  const stat = fs.fstatSync(open.fd)
  if (stat.isFile()) return { ...open, stat }
  fs.closeSync(open.fd)
  return undefined
}

type Descriptor = Disposable & { readonly fd: number }
type Open = Descriptor & { readonly stat: fs.Stats }

export const closing = (fd: number): Descriptor => ({ fd, [Symbol.dispose]: () => fs.closeSync(fd) })

function reading(open: Open | undefined, read: (open: Open) => Buffer | undefined): Buffer | undefined {
  using file = open
  return file && read(file)
}

/** The bytes of a regular file, through links that are the user's own; undefined for a pipe or a device. */
export const readRegular = (path: string): Buffer | undefined =>
  reading(openFile(path, fs.constants.O_RDONLY), ({ fd }) => fs.readFileSync(fd))

const READ_AT_ONCE = 256 * 1024

type Line = { text: string; end: number; ended: boolean }

/** The lines of a regular file from a byte on, read in pieces, and the byte that each ends at. A line over `most` bytes is empty. */
export function* linesOf(path: string, most = MOST_BYTES, start = 0): Generator<Line> {
  using open = openFile(path, fs.constants.O_RDONLY | NO_FOLLOW)
  if (!open) return
  const piece = Buffer.alloc(READ_AT_ONCE)
  let parts: Buffer[] = []
  let length = 0
  let at = start
  let isFirst = true
  const keep = (part: Buffer) => {
    length += part.length
    if (length <= most) parts.push(Buffer.from(part))
    else parts = []
  }
  const taken = (ended: boolean) => {
    const whole = length > most ? '' : Buffer.concat(parts).toString('utf8')
    const text = isFirst && whole.startsWith('\uFEFF') ? whole.slice(1) : whole
    isFirst = false
    parts = []
    length = 0
    return { text, end: at, ended }
  }
  for (let n = 0; (n = fs.readSync(open.fd, piece, 0, piece.length, at)) > 0; ) {
    let from = 0
    for (let to = piece.indexOf(10); to >= 0 && to < n; to = piece.indexOf(10, from)) {
      keep(piece.subarray(from, to))
      at += to + 1 - from
      from = to + 1
      yield taken(true)
    }
    keep(piece.subarray(from, n))
    at += n - from
  }
  if (length > 0) yield taken(false)
}

/** What was opened is still what stands at the path, with no link on the way. */
function isStill(root: string, path: string, stat: fs.Stats): boolean {
  const now = inspect(root, path)
  return now.is !== 'nothing' && now.is !== 'unsafe' && now.stat.ino === stat.ino && now.stat.dev === stat.dev
}

/** Opens a file below a root to be read; undefined for none, and for whatever `inspect` calls unsafe. */
function openInside(root: string, path: string): Open | undefined {
  if (inspect(root, path).is !== 'file') return undefined
  const gone = whenCode(['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO']) // or replaced, meanwhile
  const open = attempt(() => openFile(join(root, path), fs.constants.O_RDONLY | NO_FOLLOW), gone)
  if (open && isStill(root, path, open.stat)) return open
  if (open) fs.closeSync(open.fd)
  return undefined
}

/** The bytes of a file below a root; undefined for none, for whatever `inspect` calls unsafe, and for more than `most`. */
export const readInside = (root: string, path: string, most = MOST_BYTES): Buffer | undefined =>
  reading(openInside(root, path), ({ fd, stat }) => (stat.size <= most ? fs.readFileSync(fd) : undefined))

/** The last bytes of a file below a root; undefined as for `readInside`. */
export const readEndInside = (root: string, path: string, bytes: number): Buffer | undefined =>
  reading(openInside(root, path), ({ fd, stat }) => {
    const buffer = Buffer.alloc(Math.min(stat.size, bytes))
    return buffer.subarray(0, fs.readSync(fd, buffer, 0, buffer.length, stat.size - buffer.length))
  })

/** Makes the directories above a path below a root. @throws UserError when one of them is a link or a file. */
function makeDirectories(root: string, path: string, mode: number): void {
  const parts = (partsOf(path) ?? []).slice(0, -1)
  for (const n of parts.keys()) {
    const dir = parts.slice(0, n + 1).join('/')
    const found = inspect(root, dir)
    if (found.is === 'directory') continue
    if (found.is !== 'nothing') refuse(dir, found.is === 'unsafe' ? found.why : `${join(root, dir)} is no directory`)
    try {
      fs.mkdirSync(join(root, dir), mode)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || inspect(root, dir).is !== 'directory') throw error
    }
  }
}

/** Names of files on their way to their place: what a process leaves when it is killed, `sweepTemporary` removes. */
const TEMPORARY = /^\.tidemark-(\d+)-[0-9a-f]{12}\.tmp$/
/** The same by version 0.1.0. */
const EARLIER = /^\.(?:.+\.tidemark|config)-[0-9a-f]{12}$/
// the time, not chance: node:crypto would cost every hook 7 ms
export const temporaryName = () =>
  `.tidemark-${process.pid}-${process.hrtime.bigint().toString(16).padStart(12, '0').slice(-12)}.tmp`

interface WriteOptions {
  /** Of a file that is new; one that is replaced keeps its mode and owner. */
  readonly mode?: number
  readonly dirMode?: number
  readonly sync?: boolean
}

function writeBeside<T>(path: string, text: string | Uint8Array, o: WriteOptions, place: (fresh: string) => T): T {
  const fresh = join(dirname(path), temporaryName())
  const old = fs.lstatSync(path, { throwIfNoEntry: false })
  try {
    const flags = fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL | NO_FOLLOW
    const fd = fs.openSync(fresh, flags, old ? 0o600 : (o.mode ?? 0o666))
    try {
      fs.writeFileSync(fd, text)
      if (old) fs.fchmodSync(fd, old.mode & 0o7777)
      if (o.sync) fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
    if (old && process.getuid?.() === 0) fs.chownSync(fresh, old.uid, old.gid)
    return place(fresh)
  } finally {
    fs.rmSync(fresh, { force: true })
  }
}

/** Replaces a file in one step: a reader sees the old or the new one. Its directory is there, and the caller vouches for it. */
export const replaceFile = (path: string, text: string | Uint8Array, options: WriteOptions = {}): void =>
  writeBeside(path, text, options, (fresh) => fs.renameSync(fresh, path))

/** What lies at a path that is to be written. Its directory is made if it is missing, and can be seen later to be the same. */
function placeOf(root: string, path: string, options: WriteOptions) {
  makeDirectories(root, path, options.dirMode ?? 0o777)
  const dir = dirname(path)
  const above = dir === '.' ? undefined : inspect(root, dir)
  const found = inspect(root, path)
  if (found.is === 'unsafe') refuse(path, found.why)
  const mustBeSame = () => {
    const isSame = !above || (above.is === 'directory' && isStill(root, dir, above.stat))
    if (!isSame) refuse(dir, `${join(root, dir)} was replaced`)
  }
  return { found, mustBeSame }
}

/** Replaces a file below a root in one step. @throws UserError `unsafe-path` where a link, a directory or a device is in its place. */
export function writeInside(root: string, path: string, text: string | Uint8Array, options: WriteOptions = {}): void {
  const { found, mustBeSame } = placeOf(root, path, options)
  if (found.is === 'directory') refuse(path, `${join(root, path)} is a directory`)
  const whole = join(root, path)
  writeBeside(whole, text, options, (fresh) => {
    mustBeSame()
    fs.renameSync(fresh, whole)
  })
}

/** Makes a file below a root, whole or not at all; false where something is there already. */
export function createInside(root: string, path: string, text: string, options: WriteOptions = {}): boolean {
  const { found, mustBeSame } = placeOf(root, path, options)
  if (found.is !== 'nothing') return false
  const whole = join(root, path)
  return writeBeside(whole, text, options, (fresh) => {
    mustBeSame()
    try {
      fs.linkSync(fresh, whole)
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      fs.writeFileSync(whole, text, { flag: 'wx', mode: options.mode ?? 0o666 }) // a file system without hard links
    }
    return true
  })
}

/** Appends to a file below a root. A hard-linked file is replaced, so that its other name keeps the old content. */
export function appendInside(root: string, path: string, text: string, options: WriteOptions = {}): void {
  const { found } = placeOf(root, path, options)
  if (found.is === 'directory') refuse(path, `${join(root, path)} is a directory`)
  if (found.is === 'file' && found.stat.nlink > 1) {
    writeInside(root, path, `${readInside(root, path, Number.POSITIVE_INFINITY) ?? ''}${text}`, options)
    return
  }
  const flags = fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_CREAT | NO_FOLLOW
  using open = openFile(join(root, path), flags, options.mode ?? 0o666)
  if (!open) refuse(path, `${join(root, path)} is no regular file`)
  if (!isStill(root, path, open.stat)) refuse(path, `${join(root, path)} was replaced`)
  fs.writeFileSync(open.fd, text)
  if (options.sync) fs.fsyncSync(open.fd)
}

/** Removes what stands at a path below a root, of a link the link alone; false where there is nothing, a directory, or a link on the way. */
export function removeInside(root: string, path: string): boolean {
  const dir = dirname(path)
  if (!partsOf(path) || (dir !== '.' && inspect(root, dir).is !== 'directory')) return false
  if (['nothing', 'directory'].includes(inspect(root, path).is)) return false
  try {
    fs.unlinkSync(join(root, path))
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

/** Regular files below a directory, by their names in order; links are left out. `enters`: which directories are looked into. */
export const filesBelow = (
  dir: string,
  takes: (name: string) => boolean,
  enters: (name: string, depth: number) => boolean,
  depth = 1,
): string[] =>
  fs
    .readdirSync(dir, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(dir, entry.name)
      if (entry.isDirectory()) return enters(entry.name, depth) ? filesBelow(path, takes, enters, depth + 1) : []
      return entry.isFile() && takes(entry.name) ? [path] : []
    })

/** So old, a file on its way belongs to nobody any more, whatever runs under the number in its name. */
const ABANDONED_MS = 3_600_000

/** Removes what killed processes of ours left in a directory: files that never came to their place. Returns their names. */
export const sweepTemporary = (dir: string, now: number): string[] =>
  (attempt(() => fs.readdirSync(dir)) ?? []).filter((name) => {
    const pid = TEMPORARY.exec(name)?.[1]
    const found = pid === undefined && !EARLIER.test(name) ? undefined : inspect(dir, name)
    if (found?.is !== 'file' || !isOwn(found.stat)) return false
    const isLeft =
      (pid !== undefined && isRunning({ pid: Number(pid), born: '', host: thisHost() }) === false) ||
      now - found.stat.mtimeMs > ABANDONED_MS
    return isLeft && removeInside(dir, name)
  })

/** A new directory, which goes at the end of the block that has it, with all that is in it then. */
export function temporaryDirectory(parent: string, prefix: string): Disposable & { readonly path: string } {
  const path = fs.mkdtempSync(join(parent, prefix))
  return { path, [Symbol.dispose]: () => fs.rmSync(path, { recursive: true, force: true }) }
}

/** What lies there; nothing also for what is no path, as a word of 300 letters in a command. */
export const statOf = (path: string): fs.Stats | undefined =>
  attempt(() => fs.statSync(path, { throwIfNoEntry: false }))

/** A path by its one real name, where something is there. */
export const realPath = (path: string): string => (fs.existsSync(path) ? fs.realpathSync(path) : path)

/** A path with its directory as it really lies; the file itself may not be there yet. */
function real(path: string): string {
  for (let dir = dirname(path), rest = basename(path); ; rest = join(basename(dir), rest), dir = dirname(dir)) {
    try {
      return join(fs.realpathSync(dir), rest)
    } catch {
      if (dirname(dir) === dir) return path
    }
  }
}

/** An absolute path as seen from a root, with `/`; empty for the root itself, nothing for one that lies outside of it. */
export function below(root: string, path: string): string | undefined {
  if (path.length > 4_000 || path.includes('\0')) return undefined
  const inside = relative(real(join(root, '.')), real(join(path, '.')))
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return undefined
  return inside.split(sep).join('/')
}

/** A file that comes with the package. The bundles lie one folder below its root, this file two. */
export function packageFile(name: string): string {
  const here = dirname(fileURLToPath(import.meta.url))
  return join(here, fs.existsSync(join(here, '..', 'package.json')) ? '..' : '../..', name)
}

/** What a disk refuses is no bug: what could not be read or written, why, and what to do. Nothing for other errors. */
export function diskError(error: unknown): UserError | undefined {
  const { code, path, syscall } = error as NodeJS.ErrnoException
  const what = path === undefined ? 'a file' : path
  if (syscall === undefined) return undefined
  if (code === 'EROFS') {
    const hint = 'mount it writable, or work in a copy elsewhere'
    return new UserError('disk-read-only', `${what} cannot be written: the disk is mounted read-only`, hint)
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const hint = 'see `df` and `df -i`; free some and try again: what was recorded before is safe'
    return new UserError('disk-full', `${what} cannot be written: no space or no inodes are left`, hint)
  }
  if (code === 'EACCES' || code === 'EPERM') {
    const message = `${what} cannot be ${/read|scandir/.test(syscall) ? 'read' : 'written'}: permission denied`
    return new UserError('no-permission', message, 'see whose it is (`ls -l`), and that you may write to its directory')
  }
  return undefined
}
