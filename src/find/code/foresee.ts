import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { attempt, UserError } from '../../base/errors.ts'
import { isOwn } from '../../base/files.ts'
import { gitState, linkedWorkTrees, workTreeOf } from '../../base/git.ts'
import { type GitError, runGit, runGitWith } from '../../base/run-git.ts'
import { collisions } from '../../model/lines.ts'
import { placeIn, symbolsOf, type Version, versionOf } from './versions.ts'

/** A branch, or what a work tree has of it. */
export interface Side {
  readonly name: string
  readonly root?: string
  /** With what is not committed. */
  readonly commit: string
  readonly uncommitted: boolean
}

interface Crossing {
  readonly a: Side
  readonly b: Side
  readonly files: readonly { readonly path: string; readonly places: readonly string[] }[]
}

export interface Foreseen {
  readonly sides: readonly Side[]
  readonly pairs: number
  readonly collide: readonly Crossing[]
  /** Branches that were not looked at: those without a commit for longest. */
  readonly left: number
  readonly unseen: readonly { readonly what: string; readonly why: string }[]
}

/** A branch without a commit for longer is nobody's work, unless it is named. */
const LIVE_MS = 30 * 86_400_000
const SIDES_AT_MOST = 24
/** Of one work tree. */
const FILES_AT_MOST = 10_000
const MOST_BYTES = 200_000_000
const PLACES_AT_MOST = 5
const SCRATCH = 'tidemark-foresee-'
const ABANDONED_MS = 86_400_000
const CONFIG =
  '-c user.name=tidemark -c user.email=tidemark@localhost -c core.looseCompression=0 -c core.safecrlf=false'

/** Clears away what killed runs have left. */
function sweep(now: number): void {
  for (const name of fs.readdirSync(tmpdir()).filter((n) => n.startsWith(SCRATCH))) {
    const dir = join(tmpdir(), name)
    const stat = fs.lstatSync(dir, { throwIfNoEntry: false })
    const isLeft = stat?.isDirectory() && isOwn(stat) && now - stat.mtimeMs > ABANDONED_MS
    if (isLeft) fs.rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * A git directory beside the repository, which reads its objects. New ones go into it: nothing of the repository is
 * written, and nothing that its configuration names is run.
 */
class Scratch {
  readonly dir = fs.mkdtempSync(join(tmpdir(), SCRATCH))
  readonly unseen: { what: string; why: string }[] = []
  readonly #env: Record<string, string>

  constructor(common: string, isLong: boolean) {
    for (const dir of ['objects/info', 'refs', 'info']) fs.mkdirSync(join(this.dir, dir), { recursive: true })
    fs.writeFileSync(join(this.dir, 'HEAD'), 'ref: refs/heads/none\n')
    const format = isLong ? '1\n[extensions]\n\tobjectformat = sha256' : '0'
    fs.writeFileSync(join(this.dir, 'config'), `[core]\n\trepositoryformatversion = ${format}\n`)
    // no filter, not even one of the user's own; line ends are git's own work
    fs.writeFileSync(join(this.dir, 'info/attributes'), '* -filter -working-tree-encoding\n')
    fs.writeFileSync(join(this.dir, 'objects/info/alternates'), `${join(common, 'objects')}\n`)
    for (const file of ['shallow', 'info/exclude'])
      if (fs.existsSync(join(common, file))) fs.copyFileSync(join(common, file), join(this.dir, file))
    this.#env = { GIT_DIR: this.dir, GIT_INDEX_FILE: join(this.dir, 'index') }
  }

  git = (args: readonly string[], input = '', tree = this.dir): Promise<string> =>
    runGitWith(tree, { env: { ...this.#env, GIT_WORK_TREE: tree }, input }, ...CONFIG.split(' '), ...args)

  /** Its index is that of a work tree from now on. */
  take(dir: string): void {
    fs.rmSync(join(this.dir, 'index'), { force: true })
    for (const file of fs.readdirSync(dir).filter((name) => name === 'index' || name.startsWith('sharedindex.')))
      fs.copyFileSync(join(dir, file), join(this.dir, file))
  }

  version = (commit: string, path: string): Promise<Version> =>
    this.git(['cat-file', 'blob', `${commit}:${path}`]).then(versionOf, () => versionOf(''))

  /** What git cannot read is noted, and the rest goes on. */
  noting = <T>(what: string, part: Promise<T>): Promise<T | undefined> =>
    part.catch((error: GitError) => {
      if (error.code !== 'no-git') throw error
      this.unseen.push({ what, why: error.said })
      return undefined
    })

  readonly [Symbol.dispose] = (): void => fs.rmSync(this.dir, { recursive: true, force: true })
}

const fields = (said: string): string[] => said.split('\0').filter((f) => f !== '')

/** Its commit and the tree of that; nothing before the first. */
const headOf = async (root: string): Promise<string[]> =>
  (await runGit(root, 'rev-parse', '--revs-only', 'HEAD', 'HEAD^{tree}')).split('\n').filter((id) => id !== '')

const nameOf = (root: string): string => gitState(root).branch ?? basename(root)

/** Which of the changed files of a work tree are looked at: the smallest first. */
function lookedAt(scratch: Scratch, root: string, changed: readonly string[]): string[] {
  const stats = new Map(changed.map((path) => [path, attempt<fs.Stats>(() => fs.lstatSync(join(root, path)))]))
  const isFile = (path: string) => stats.get(path)?.isFile() || stats.get(path)?.isSymbolicLink() === true
  const isIn = (path: string): boolean => path !== '.' && (isFile(path) || isIn(dirname(path)))
  const size = (path: string) => stats.get(path)?.size ?? 0
  const files = [...stats.keys()]
    // a folder is a repository of its own; where a file has taken the place of a folder, git removes what was in it
    .filter((path) => (isFile(path) || !stats.get(path)) && !isIn(dirname(path)))
    .sort((a, b) => size(a) - size(b))
  let room = MOST_BYTES
  const fitting = files.filter((path, n) => n < FILES_AT_MOST && (room -= size(path)) >= 0)
  const what = `${files.length - fitting.length} changed files of ${nameOf(root)}, such as ${files[fitting.length]}`
  const why = `more than ${MOST_BYTES / 1e6} MB or ${FILES_AT_MOST} files in all`
  if (fitting.length < files.length) scratch.unseen.push({ what, why })
  return fitting
}

/** A work tree as a commit: its own, or one on it that holds what is not committed. */
async function sideOf(scratch: Scratch, root: string): Promise<Side | undefined> {
  const [commit, before] = await headOf(root)
  const dir = workTreeOf(root)?.dir
  if (commit === undefined || dir === undefined) return undefined
  const own = { name: nameOf(root), root, commit, uncommitted: false }
  scratch.take(dir)
  const set = await runGit(root, 'config', '-z', '--get-regexp', '^core\\.(autocrlf|filemode|symlinks)$').catch(
    () => '',
  )
  const asHere = fields(set).flatMap((setting) => ['-c', setting.replace('\n', '=')])
  // neither command looks into a submodule, whose configuration would count
  const list = [...asHere, 'ls-files', '--modified', '--others', '--exclude-standard', '-z']
  const files = lookedAt(scratch, root, fields(await scratch.git(list, '', root)))
  const update = [...asHere, 'update-index', '-z', '--add', '--remove', '--replace', '--stdin']
  if (files.length > 0) await scratch.git(update, files.join('\0'), root)
  const tree = (await scratch.git(['write-tree'])).trim()
  if (tree === before) return own
  const kept = await scratch.git(['commit-tree', tree, '-p', commit, '-m', 'uncommitted'])
  return { ...own, commit: kept.trim(), uncommitted: true }
}

/** The files in which two commits do not merge. */
async function conflictsOf(scratch: Scratch, a: string, b: string): Promise<string[]> {
  try {
    await scratch.git(['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', a, b])
    return []
  } catch (error) {
    const { exit, stdout } = error as GitError
    if (exit === 129)
      throw new UserError('old-git', 'this git cannot merge without a work tree', 'install git 2.38 or newer')
    if (exit !== 1) throw error
    return fields(stdout).slice(1)
  }
}

/** The files in which two sides collide, each with its places in lines of the first. */
async function crossingOf(scratch: Scratch, root: string, a: Side, b: Side): Promise<Crossing> {
  const paths = await conflictsOf(scratch, a.commit, b.commit)
  const base = paths.length === 0 ? '' : await scratch.git(['merge-base', a.commit, b.commit]).catch(() => '')
  const files: { path: string; places: string[] }[] = []
  for (const path of paths) {
    const [from, one, other] = await Promise.all([base.trim(), a.commit, b.commit].map((c) => scratch.version(c, path)))
    const found = collisions(from!.rows, one!.rows, other!.rows)
    const symbols = found.length === 0 ? [] : await symbolsOf(root, path, one!)
    files.push({ path, places: [...new Set(found.map((c) => placeIn(symbols, c.mine.b)))].slice(0, PLACES_AT_MOST) })
  }
  return { a, b, files }
}

/** Work trees, and branches that no work tree has and HEAD does not hold, newest first. */
async function sidesOf(scratch: Scratch, root: string, common: string, since: number) {
  const trees: Side[] = []
  for (const dir of [...(basename(common) === '.git' ? [dirname(common)] : []), ...linkedWorkTrees(common)]) {
    const found = sideOf(scratch, dir)
    const what = `changes of ${nameOf(dir)} that are not committed`
    const side = await (dir === root ? found : scratch.noting(what, found))
    if (side) trees.push(side)
  }
  const format = '--format=%(refname:short) %(objectname) %(committerdate:unix)'
  const listed = await runGit(root, 'for-each-ref', '--sort=-committerdate', '--no-merged=HEAD', format, 'refs/heads')
  const rows = listed.split('\n').map((line) => line.split(' ') as [name: string, commit: string, at: string])
  const branches = rows.filter(([name]) => name !== '' && !trees.some((t) => t.name === name))
  const live = branches.filter(([, , at]) => Number(at) * 1000 >= since).slice(0, SIDES_AT_MOST)
  const all: Side[] = [...trees, ...live.map(([name, commit]) => ({ name, commit, uncommitted: false }))]
  return { all, left: branches.length - live.length }
}

/**
 * Which branches and work trees collide, and where. Without names: every work tree, and the branches with a commit of
 * late. One name is held against all of these, several against each other.
 */
export async function foresee(from: string, names: readonly string[], now: number): Promise<Foreseen> {
  const { top: root = from, common = '' } = workTreeOf(from) ?? {}
  const [head] = common === '' ? [] : await headOf(root)
  if (head === undefined) return { sides: [], pairs: 0, collide: [], left: 0, unseen: [] }
  attempt(() => sweep(now))
  using scratch = new Scratch(common, head.length > 40)
  const { all, left } = await sidesOf(scratch, root, common, now - LIVE_MS)
  const named: Side[] = []
  for (const name of names) named.push(all.find((s) => s.name === name) ?? (await branchOf(root, name)))
  const sides = named.length > 1 ? named : [...named, ...all.filter((s) => !named.includes(s))]
  const first = named.length === 1 ? sides.slice(0, 1) : sides
  const pairs = first.flatMap((a, i) => sides.slice(i + 1).map((b) => [a, b] as const))
  const crossings: Crossing[] = []
  for (const [a, b] of pairs) {
    const met = await scratch.noting(`${a.name} with ${b.name}`, crossingOf(scratch, root, a, b))
    if (met) crossings.push(met)
  }
  const collide = crossings.filter((c) => c.files.length > 0)
  return { sides, pairs: crossings.length, collide, left: named.length > 1 ? 0 : left, unseen: scratch.unseen }
}

async function branchOf(root: string, name: string): Promise<Side> {
  const commit = await runGit(root, 'rev-parse', '--verify', '--end-of-options', `${name}^{commit}`).catch(() => '')
  if (commit !== '') return { name, commit: commit.trim(), uncommitted: false }
  throw new UserError('not-found', `git knows no branch ${name}`, '`git branch -a` shows them')
}
