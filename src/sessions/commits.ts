import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gitRoot } from '../store/project.ts'

/** Only so much of the end of a reflog is read: some hundred entries. */
const TAIL = 128 * 1024

/** Git's directory of a work tree. */
function gitDirOf(root: string): string | undefined {
  const top = gitRoot(root)
  if (top === undefined) return undefined
  const dot = join(top, '.git')
  if (statSync(dot).isDirectory()) return dot
  const m = /^gitdir:\s*(.+)$/m.exec(readFileSync(dot, 'utf8'))
  return m ? resolve(top, m[1]!.trim()) : undefined
}

/** Where the reflog of a work tree's HEAD lies, if it has one. */
export function reflogOf(root: string): string | undefined {
  const dir = gitDirOf(root)
  const log = dir === undefined ? undefined : join(dir, 'logs', 'HEAD')
  return log !== undefined && existsSync(log) ? log : undefined
}

/** Whether git's index names a file by this path, from its end: then it may be what somebody else wrote. */
export function isTracked(root: string, path: string): boolean {
  const dir = gitDirOf(root)
  if (dir === undefined || !existsSync(join(dir, 'index'))) return false
  return readFileSync(join(dir, 'index')).includes(`${path}\0`)
}

function tailOf(path: string): string {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const buffer = Buffer.alloc(Math.min(size, TAIL))
    const n = readSync(fd, buffer, 0, buffer.length, size - buffer.length)
    return buffer.toString('utf8', 0, n)
  } finally {
    closeSync(fd)
  }
}

interface Entry {
  commit: string
  /** Seconds since the epoch. */
  at: number
  /** It brought a commit that was not there before. */
  brings: boolean
}

const BRINGS = /^(?:commit(?! \(amend\))|merge|pull|cherry-pick|revert|rebase[^:]*\((?:pick|finish)\)|am)(?![\w-])/

const entriesOf = (text: string): Entry[] =>
  text.split('\n').flatMap((line) => {
    const m = /^[0-9a-f]+ ([0-9a-f]+) .*?> (\d+) [+-]\d{4}\t(.*)$/.exec(line)
    return m ? [{ commit: m[1]!, at: Number(m[2]), brings: BRINGS.test(m[3]!) }] : []
  })

/** Tells how many commits a work tree took in after a moment, at which it stood at `commit` where that is known. */
export type CommitsSince = (ms: number, commit?: string) => number | undefined

/** Looks into git's files once; where there is no reflog, nothing is told. */
export function commitsOf(root: string): CommitsSince {
  let entries: Entry[]
  try {
    const log = reflogOf(root)
    if (log === undefined) return () => undefined
    entries = entriesOf(tailOf(log))
  } catch {
    return () => undefined // git is at work in it, or it may not be read
  }
  return (ms, commit) => {
    const second = Math.floor(ms / 1000)
    // the clock of a reflog has seconds only: of those within the one in question the commit says which came before
    const stood =
      commit === undefined ? -1 : entries.findLastIndex((e) => e.at <= second && e.commit.startsWith(commit))
    return entries.filter((e, i) => e.brings && (e.at > second || (e.at === second && stood >= 0 && i > stood))).length
  }
}
