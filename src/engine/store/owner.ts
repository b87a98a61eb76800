import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmdirSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { attempt, UserError, whenCode } from '../../base/errors.ts'
import { isOwn, readInside, replaceFile } from '../../base/files.ts'
import { randomBytes } from '../../base/random.ts'
import { sha256 } from '../../model/digest.ts'
import { ownFiles } from './file-places.ts'
import { makeState, readState, stateDirectory } from './user-state.ts'

export const markPath = (storePath: string) => `${storePath}.owner`

/** How many machines may share a store, such as a container and its host. */
const MARKS = 16
const MARK_BYTES = 4_096

const keptMark = (project: string) => (/^[A-Za-z0-9-]{1,64}$/.test(project) ? `stores/${project}` : undefined)

/** This user's secret for the stores of a project: 32 random bytes. A signature would cost every hook 7 ms. */
function ownMark(project: string): string {
  const path = keptMark(project)
  if (path === undefined)
    throw new UserError('bad-config', `"${project}" is no id of a project`, 'see .tidemark/config.json')
  const mark = readState(path)?.trim() || makeState(path, `${randomBytes(32).toString('hex')}\n`).trim()
  if (/^[0-9a-f]{64}$/.test(mark)) return mark
  const hint = 'remove it, then `tidemark adopt`'
  throw new UserError('no-state', `${join(stateDirectory(), path)} is damaged, or not yours`, hint)
}

const marksAt = (storePath: string): string[] =>
  readInside(dirname(storePath), basename(markPath(storePath)), MARK_BYTES)
    ?.toString('latin1')
    .split('\n')
    .filter(Boolean) ?? []

/** Whether this user's mark of a project lies beside a store. */
export function isMarked(storePath: string, project: string): boolean {
  const path = keptMark(project)
  const mark = path && readState(path)?.trim()
  return mark !== undefined && mark.length === 64 && marksAt(storePath).includes(mark)
}

/** The random name of a work tree in lines: it does not show the path. Undefined where no store was made. */
export function treeName(project: string, root: string): string | undefined {
  const path = keptMark(project)
  const mark = path && readState(path)?.trim()
  return mark ? sha256(`${mark}\n${root}`).slice(0, 8) : undefined
}

function writeMarks(storePath: string, marks: readonly string[]): void {
  const newest = [...new Set(marks)].slice(-MARKS)
  replaceFile(markPath(storePath), newest.map((m) => `${m}\n`).join(''), { mode: 0o600 })
}

export function markStore(storePath: string, project: string): void {
  const mark = ownMark(project)
  const marks = marksAt(storePath)
  if (!marks.includes(mark)) writeMarks(storePath, [...marks, mark])
}

/** Lets the machines that could open one store open the one that takes its place: they share the directory. */
export const keepMarks = (from: string, to: string): void => writeMarks(to, [...marksAt(from), ...marksAt(to)])

export const ADOPT = 'tidemark adopt'

const foreign = (message: string, hint: string) => new UserError('store-foreign', message, hint)

/** Refuses a file beside the store that is a link, or somebody else's to change; closes what is merely open to readers. */
function check(file: string, stat: Stats, closes: boolean, mayBeRoots = false): void {
  if (stat.isSymbolicLink())
    throw foreign(`${file} is a link: the store is not opened`, 'put the file itself there, or remove the link')
  if (!isOwn(stat) && !(mayBeRoots && stat.uid === 0)) {
    const hint = `if it is yours all the same, give it to your user with chown; to use a store of your own, set TIDEMARK_STORE`
    throw foreign(`${file} belongs to user ${stat.uid}, not to you: the store is not opened`, hint)
  }
  if (process.platform === 'win32') return
  if (stat.mode & 0o002 && keepsModes(stat.isDirectory() ? file : dirname(file))) {
    const hint = `chmod o-w ${file}, and \`${ADOPT}\` if somebody else may have written to it`
    throw foreign(`everybody may write to ${file}: the store is not opened`, hint)
  }
  const wanted = stat.mode & (stat.isDirectory() ? 0o700 : 0o600)
  if (closes && (stat.mode & 0o777) !== wanted) unlessReadOnly(() => chmodSync(file, wanted))
}

/** A disk that is mounted read-only is no reason to refuse what can be read. */
const unlessReadOnly = (body: () => void): void => attempt(body, whenCode(['EROFS']))

/** Whether a mode means anything here. On Windows' disks in WSL every file has the one that the mount says. */
function keepsModes(dir: string): boolean {
  const mode = attempt(() => {
    const made = mkdtempSync(join(dir, '.new-'))
    const stat = statSync(made)
    rmdirSync(made)
    return stat.mode
  })
  return mode === undefined || (mode & 0o002) === 0
}

export interface Claim {
  readonly project: string
  /** Whether a store without a mark is this user's: 0.1.0 wrote none. */
  mayTakeOver(): boolean
  /** The directory holds our files alone: it is closed to others. */
  readonly ownDirectory: boolean
}

/** Refuses a store with a file that somebody else may change, or that leads elsewhere; says whether there is any. */
export function checkFiles(storePath: string, ownDirectory: boolean): boolean {
  const dir = dirname(storePath)
  // through a link to a directory that the caller named; in its own place no link is followed
  const stat = (ownDirectory ? lstatSync : statSync)(dir, { throwIfNoEntry: false })
  if (!stat) return false
  check(dir, stat, ownDirectory, !ownDirectory)
  let isThere = false
  for (const suffix of ['', '-wal', '-shm', '.bell', '.owner']) {
    const file = storePath + suffix
    const found = lstatSync(file, { throwIfNoEntry: false })
    if (!found) continue
    check(file, found, true)
    isThere = true
  }
  return isThere
}

/** What counts as ours in a store: whoever makes one where such a file lies takes it over. */
export const filesOfStore = (storePath: string): string[] =>
  ownFiles('store', dirname(storePath), basename(storePath))
    .filter(({ kind }) => !/^(?:\.gitignore|\.new-|\{dirs\})/.test(kind.path)) // of one that is just being made
    .map(({ path }) => path)

/** Lets a store be opened only if this user made or adopted it (T30); others are refused unread. */
export function checkOwner(storePath: string, { project, mayTakeOver, ownDirectory }: Claim): void {
  const isThere = checkFiles(storePath, ownDirectory)
  if (isMarked(storePath, project)) return
  if (!existsSync(dirname(storePath)) || (!isThere && filesOfStore(storePath).length === 0)) return // about to be made
  if (isMarked(storePath, project)) return // it was made meanwhile: the mark comes first
  if (marksAt(storePath).length > 0 || !mayTakeOver()) {
    const hint = `\`${ADOPT}\` shows what is in it and takes it over, as knowledge that you have not confirmed`
    throw foreign(`the store ${storePath} was not made by you on this machine: it is not opened`, hint)
  }
  unlessReadOnly(() => {
    for (const path of filesOfStore(storePath)) check(path, lstatSync(path), true) // 0.1.0 left them open to readers
    markStore(storePath, project)
  })
}

export function projectOfStore(storePath: string): string | undefined {
  const marks = marksAt(storePath)
  const stores = join(stateDirectory(), 'stores')
  if (marks.length === 0 || !existsSync(stores)) return undefined
  return readdirSync(stores).find((id) => !id.includes('.') && marks.includes(readState(`stores/${id}`)?.trim() ?? ''))
}
