import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { gitCommonDir, gitRoot } from '../store/project.ts'
import { pathsInIndex } from './git-index.ts'

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

/** For the answer of git where its index has to be read by git itself. */
const GIT_MS = 500

/** A file system may take two spellings for one: neither case nor what goes unseen counts. */
const folded = (path: string): string =>
  path
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()

/** Whether git's index names a file of a project, however it spells it: then it may be what somebody else wrote. */
export function isTracked(root: string, path: string): boolean {
  const top = gitRoot(root)
  const dir = gitDirOf(root)
  if (top === undefined || dir === undefined || !existsSync(join(dir, 'index'))) return false
  const wanted = folded(join(relative(top, root), path).split(sep).join('/'))
  const paths = pathsInIndex(readFileSync(join(dir, 'index')), hashBytesOf(top)) ?? askGit(top)
  // what cannot be told is rather taken for somebody else's
  return paths?.some((p) => (p.endsWith('/') ? wanted.startsWith(folded(p)) : folded(p) === wanted)) ?? true
}

function hashBytesOf(top: string): 20 | 32 {
  const config = join(gitCommonDir(top) ?? join(top, '.git'), 'config')
  return existsSync(config) && /^\s*objectformat\s*=\s*sha256/im.test(readFileSync(config, 'utf8')) ? 32 : 20
}

function askGit(top: string): string[] | undefined {
  const { spawnSync } = process.getBuiltinModule('node:child_process') // not at the start of every hook
  const asked = spawnSync('git', ['ls-files', '-z'], {
    cwd: top,
    timeout: GIT_MS,
    maxBuffer: 2 ** 28,
    encoding: 'utf8',
  })
  return asked.status === 0 ? asked.stdout.split('\0').filter((p) => p !== '') : undefined
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
