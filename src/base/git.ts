import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { attempt } from './errors.ts'
import { inspect, isOwn, readInside } from './files.ts'

// Git is not run here: an archive's configuration names programs that git would start (core.fsmonitor, filters, hooks).
// What has to be known of a repository stands in a few files, which are read here as a stranger's.

export const ancestors = function* (from: string): Generator<string> {
  for (let dir = resolve(from); ; dir = dirname(dir)) {
    yield dir
    if (dirname(dir) === dir) return
  }
}

export function gitRoot(from: string): string | undefined {
  for (const dir of ancestors(from)) if (existsSync(join(dir, '.git'))) return dir
  return undefined
}

const textIn = (dir: string, path: string): string | undefined => readInside(dir, path)?.toString('utf8').trim()

/** False also where one of them is not there. */
const isSame = (a: string, b: string): boolean => attempt(() => realpathSync(a) === realpathSync(b)) ?? false

type GitDirectory =
  | { readonly is: 'own'; readonly dir: string; readonly common: string; readonly linked: boolean }
  | { readonly is: 'none' }
  | { readonly is: 'foreign'; readonly dir: string }

/** The git directory that `.git` names. A `.git` file may name any directory, so that one has to lead back to this work tree. */
export function gitDirectory(root: string): GitDirectory {
  const dot = join(root, '.git')
  if (statSync(dot, { throwIfNoEntry: false })?.isDirectory())
    return { is: 'own', dir: dot, common: dot, linked: false }
  const named = /^gitdir:\s*(.+)$/m.exec(textIn(root, '.git') ?? '')?.[1]
  if (named === undefined) return { is: 'none' }
  const dir = resolve(root, named.trim())
  if (inspect(dir, 'HEAD').is !== 'file') return { is: 'none' }
  const common = textIn(dir, 'commondir')
  if (common !== undefined)
    return isSame(resolve(dir, textIn(dir, 'gitdir') ?? ''), dot)
      ? { is: 'own', dir, common: resolve(dir, common), linked: true }
      : { is: 'foreign', dir }
  const workTree = /^[ \t]*worktree[ \t]*=[ \t]*(\S.*)$/im.exec(textIn(dir, 'config') ?? '')?.[1]
  const leadsBack = workTree === undefined ? basename(dir) !== '.git' : isSame(resolve(dir, unquoted(workTree)), root)
  return leadsBack ? { is: 'own', dir, common: dir, linked: false } : { is: 'foreign', dir }
}

const unquoted = (value: string): string =>
  value
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .replaceAll(/\\(["\\])/g, '$1')

/** The git directory that all work trees of a repository share. */
export function gitCommonDir(root: string): string | undefined {
  const git = gitDirectory(root)
  return git.is === 'own' ? git.common : undefined
}

export function linkedWorkTrees(common: string): string[] {
  const dir = join(common, 'worktrees')
  if (inspect(common, 'worktrees').is !== 'directory') return []
  return readdirSync(dir).flatMap((name) => {
    const dot = textIn(dir, `${name}/gitdir`)
    const root = dot === undefined ? undefined : dirname(resolve(dir, name, dot))
    return root !== undefined && isSame(gitCommonDir(root) ?? '', common) ? [root] : []
  })
}

export function workTreeOf(from: string) {
  const top = gitRoot(from)
  const git = top === undefined ? undefined : gitDirectory(top)
  return top !== undefined && git?.is === 'own' ? { top, ...git } : undefined
}

const REF = /^refs\/[^\x00-\x20\x7f~^:?*[\\]+$/
const COMMIT = /^[0-9a-f]{40,64}$/

export function gitState(root: string): { branch?: string; commit?: string } {
  const git = workTreeOf(root)
  if (!git) return {}
  const shortened = (commit: string | undefined) =>
    commit !== undefined && COMMIT.test(commit) ? { commit: commit.slice(0, 12) } : {}
  const head = textIn(git.dir, 'HEAD') ?? ''
  const ref = /^ref:\s*(\S.*)$/.exec(head)?.[1]
  if (ref === undefined) return shortened(head)
  if (!REF.test(ref)) return {}
  return { branch: ref.replace(/^refs\/heads\//, ''), ...shortened(commitAt(git.common, ref)) }
}

const commitAt = (common: string, ref: string): string | undefined =>
  textIn(common, ref) ??
  textIn(common, 'packed-refs')
    ?.split('\n')
    .find((line) => line.endsWith(` ${ref}`))
    ?.split(' ')[0]

/** Whether a branch of this name is here; not of a stranger's name that is none. */
export function hasBranch(root: string, branch: string): boolean {
  const common = workTreeOf(root)?.common
  const ref = `refs/heads/${branch}`
  return common !== undefined && REF.test(ref) && commitAt(common, ref) !== undefined
}

/** Whether parts of the history are missing here. */
export const isShallow = (root: string): boolean => existsSync(join(workTreeOf(root)?.common ?? root, 'shallow'))

function userIn(config: string | undefined): string | undefined {
  let isUser = false
  let name: string | undefined
  for (const line of (config ?? '').split('\n').map((l) => l.trim()))
    if (line.startsWith('[')) isUser = line.slice(1).split(']')[0]!.trim().toLowerCase() === 'user'
    else if (isUser && line.split('=')[0]!.trim().toLowerCase() === 'name') {
      const value = line.slice(line.indexOf('=') + 1).trim()
      name = value.startsWith('"') ? unquoted(value) : value.split(/[#;]/)[0]!.trim()
    }
  return name
}

/** Nothing where it is not there, or may not be read. */
const userConfig = (path: string): string | undefined =>
  attempt(() => (statSync(path).isFile() ? readFileSync(path, 'utf8') : undefined))

/** `user.name` of git's configuration: of the repository, else of the person. Files that these include are not read. */
export function gitUser(root: string): string | undefined {
  const { GIT_CONFIG_GLOBAL, HOME = homedir(), XDG_CONFIG_HOME = join(HOME, '.config') } = process.env
  const common = workTreeOf(root)?.common
  const name =
    (common && userIn(textIn(common, 'config'))) ||
    (GIT_CONFIG_GLOBAL !== undefined
      ? userIn(userConfig(GIT_CONFIG_GLOBAL))
      : userIn(userConfig(join(HOME, '.gitconfig'))) || userIn(userConfig(join(XDG_CONFIG_HOME, 'git', 'config'))))
  return (
    name
      ?.replace(/[\x00-\x1f\x7f]/g, '')
      .slice(0, 60)
      .toWellFormed() || undefined
  )
}

/** Where the reflog of a work tree's HEAD lies, if it has one. */
export function reflogOf(root: string): { dir: string; path: string } | undefined {
  const dir = workTreeOf(root)?.dir
  return dir !== undefined && inspect(dir, 'logs/HEAD').is === 'file' ? { dir, path: 'logs/HEAD' } : undefined
}

/** A file system may take two spellings for one: neither case nor what goes unseen counts. */
const folded = (path: string): string =>
  path
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()

/** The paths that git's index names below a root, with `/`; nothing without an index, or where it cannot be read. */
export function trackedPaths(root: string): string[] | undefined {
  const git = workTreeOf(root)
  if (!git || inspect(git.dir, 'index').is === 'nothing') return undefined
  const below = relative(git.top, root).split(sep).join('/')
  return indexOf(git)?.flatMap((p) => (below === '' ? p : p.startsWith(`${below}/`) ? p.slice(below.length + 1) : []))
}

function indexOf(git: { dir: string; common: string }): string[] | undefined {
  const hash = /^[ \t]*objectformat[ \t]*=[ \t]*sha256/im.test(textIn(git.common, 'config') ?? '') ? 32 : 20
  return pathsInIndex((name) => readInside(git.dir, name, MOST_INDEX), hash)
}

/** Whether git's index names a file of a work tree or a directory above it, however it spells them. */
export function isTracked(root: string, path: string): boolean {
  const git = workTreeOf(root)
  if (!git || inspect(git.dir, 'index').is === 'nothing') return false
  const wanted = folded(relative(git.top, join(root, path)).split(sep).join('/'))
  // what cannot be told is rather taken for somebody else's
  return indexOf(git)?.some((p) => (p.endsWith('/') ? wanted.startsWith(folded(p)) : folded(p) === wanted)) ?? true
}

/** Why a file may not be this user's own: it came with a commit, a submodule, an archive, or from another user. */
export function whyNotOwn(root: string, path: string): string | undefined {
  const found = inspect(root, path)
  if (found.is === 'unsafe') return found.why
  if (found.is === 'file' && found.stat.nlink > 1)
    return `${join(root, path)} is also called something else (a hard link)`
  if (found.is !== 'nothing' && !isOwn(found.stat)) return `${join(root, path)} belongs to another user`
  for (let dir = dirname(path); dir !== '.'; dir = dirname(dir))
    if (lstatSync(join(root, dir, '.git'), { throwIfNoEntry: false }))
      return `${join(root, dir)} is a repository of its own`
  return isTracked(root, path) ? `it is committed: take it out of git with \`git rm --cached ${path}\`` : undefined
}

const MOST_INDEX = 2 ** 28
/** The entry stands for a folder: of a sparse index, whose files are not written out one by one, or a submodule. */
const FOLDERS = [0o040000, 0o160000]
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

/** The paths in git's index, versions 2 to 4, split ones too (gitformat-index). Undefined for any other, or a damaged one. */
export function pathsInIndex(
  read: (name: string) => Buffer | undefined,
  hash: 20 | 32,
  name = 'index',
): string[] | undefined {
  const bytes = read(name)
  if (!bytes) return undefined
  try {
    const version = bytes.readUInt32BE(4)
    if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return undefined
    const paths: string[] = []
    let at = 12
    let path = Buffer.alloc(0)
    for (let left = bytes.readUInt32BE(8); left > 0; left--) {
      const start = at
      const mode = bytes.readUInt32BE(start + 24)
      const flags = bytes.readUInt16BE(start + STAT_BYTES + hash)
      at = start + STAT_BYTES + hash + 2 + (version > 2 && flags & EXTENDED ? 2 : 0)
      const kept = version === 4 ? stripped(bytes, at) : { length: path.length, at }
      const end = bytes.indexOf(0, kept.at)
      if (end < 0 || kept.length > path.length) return undefined
      path = Buffer.concat([path.subarray(0, path.length - kept.length), bytes.subarray(kept.at, end)])
      // before version 4 one to eight zeros follow, so that entries begin at multiples of eight
      at = version === 4 ? end + 1 : end + 8 - ((end - start) % 8)
      const text = path.toString('utf8')
      paths.push(FOLDERS.includes(mode & 0o170000) && !text.endsWith('/') ? `${text}/` : text)
    }
    for (; at + 8 <= bytes.length - hash; at += 8 + bytes.readUInt32BE(at + 4)) {
      if (bytes.toString('latin1', at, at + 4) !== 'link') continue
      const base = bytes.toString('hex', at + 8, at + 8 + hash)
      if (name !== 'index' || /^0+$/.test(base)) continue
      const shared = pathsInIndex(read, hash, `sharedindex.${base}`)
      if (!shared) return undefined
      const gone = bytes.readUInt32BE(at + 4) > hash ? bitsOf(bytes, at + 8 + hash, shared.length) : []
      // an entry that is replaced has no name here: its name is the shared one's
      return [...paths.filter((p) => p !== ''), ...shared.filter((_, n) => !gone[n])]
    }
    return paths
  } catch (error) {
    if (error instanceof RangeError) return undefined // it ends too early
    throw error
  }
}

/** The first `most` bits of a bitmap in git's compressed form (EWAH, gitformat-bitmap). */
function bitsOf(bytes: Buffer, from: number, most: number): boolean[] {
  const bits: boolean[] = []
  const words = bytes.readUInt32BE(from + 4)
  const wordAt = (n: number) => bytes.readBigUInt64BE(from + 8 + 8 * n)
  for (let n = 0; n < words && bits.length < most; ) {
    const head = wordAt(n++)
    const same = Number((head >> 1n) & 0xffff_ffffn) * 64
    for (let i = 0; i < same && bits.length < most; i++) bits.push((head & 1n) === 1n)
    for (let literals = Number(head >> 33n); literals > 0 && bits.length < most; literals--) {
      const word = wordAt(n++)
      for (let i = 0n; i < 64n; i++) bits.push(((word >> i) & 1n) === 1n)
    }
  }
  return bits
}
