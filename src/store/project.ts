import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { UserError } from '../errors.ts'
import { slug } from '../schema/names.ts'

/** The folder in a project's root that says it is one. */
export const PROJECT_DIR = '.tidemark'

/** A project on this machine. */
export interface Project {
  /** Random, kept in `.tidemark/config.json`: never the folder's name. */
  id: string
  name: string
  root: string
  /** The SQLite file: in the git common directory, shared by all worktrees, out of reach of `git clean` (K18). */
  storePath: string
  /** What its configuration says of recall, as it stands there: checked where it is used. */
  recall?: unknown
  /** The same of hooks. */
  hooks?: unknown
}

interface Config {
  id: string
  name?: string
  created: string
  recall?: unknown
  hooks?: unknown
}

/** The git directory that all worktrees share, read from the files: starting git would cost more than the answer. */
export function gitCommonDir(root: string): string | undefined {
  const dot = join(root, '.git')
  if (!existsSync(dot)) return undefined
  if (statSync(dot).isDirectory()) return dot
  const m = /^gitdir:\s*(.+)$/m.exec(readFileSync(dot, 'utf8'))
  if (!m) return undefined
  const gitDir = resolve(root, m[1]!.trim())
  const common = join(gitDir, 'commondir')
  return existsSync(common) ? resolve(gitDir, readFileSync(common, 'utf8').trim()) : gitDir
}

const ancestors = function* (from: string): Generator<string> {
  for (let dir = resolve(from); ; dir = dirname(dir)) {
    yield dir
    if (dirname(dir) === dir) return
  }
}

/** The root of the git work tree around a directory. */
export function gitRoot(from: string): string | undefined {
  for (const dir of ancestors(from)) if (existsSync(join(dir, '.git'))) return dir
  return undefined
}

/** Where a project's store lies, by K18; `TIDEMARK_STORE` or `persistencePath` (a directory) overrule it. */
export function storePathFor(root: string, persistencePath = process.env.TIDEMARK_STORE): string {
  if (persistencePath)
    return join(isAbsolute(persistencePath) ? persistencePath : resolve(root, persistencePath), 'store.db')
  const top = gitRoot(root)
  const common = top && gitCommonDir(top)
  if (!top || !common) return join(root, PROJECT_DIR, 'store', 'store.db')
  const below = relative(realpathSync(top), realpathSync(root))
  return below === ''
    ? join(common, 'tidemark', 'store.db')
    : join(common, 'tidemark', 'below', slug(below.split(sep).join('/'), true), 'store.db')
}

const configPath = (root: string) => join(root, PROJECT_DIR, 'config.json')

/** The id stands in the store as well, from where `init` takes it. */
const WITHOUT_ID =
  'restore it from git, or delete it and run `tidemark init`, which takes the id of the project from the store; its settings are gone then'

function readConfig(root: string): Config {
  const path = configPath(root)
  let config: unknown
  try {
    config = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UserError('bad-config', `${path} cannot be read: ${(error as Error).message}`, WITHOUT_ID)
  }
  const id = (config as Config | null)?.id
  if (typeof id !== 'string' || !/^[a-z0-9-]{6,64}$/.test(id)) {
    throw new UserError('bad-config', `${path} has no valid id`, WITHOUT_ID)
  }
  return config as Config
}

/** The project whose configuration lies in `home`, seen from one of its work trees. */
function projectAt(home: string, persistencePath?: string, root = home): Project {
  const config = readConfig(home)
  return {
    id: config.id,
    name: config.name ?? basename(home),
    root,
    storePath: storePathFor(root, persistencePath),
    ...(config.recall === undefined ? {} : { recall: config.recall }),
    ...(config.hooks === undefined ? {} : { hooks: config.hooks }),
  }
}

/**
 * The project around a directory: the nearest `.tidemark/config.json` upward; in a linked worktree that has none, the one of the
 * main worktree, whose store it shares.
 * @throws UserError `no-project` with the hint to run `init`; nothing is ever created here.
 */
export function findProject(from: string, persistencePath?: string): Project {
  if (!existsSync(from))
    throw new UserError('no-directory', `there is no directory ${from}`, 'give an existing one with --project')
  for (const dir of ancestors(from)) {
    if (existsSync(configPath(dir))) return projectAt(dir, persistencePath)
    const common = gitCommonDir(dir)
    if (!common) continue
    const main = dirname(common)
    if (main !== dir && basename(common) === '.git' && existsSync(configPath(main)))
      return projectAt(main, persistencePath, dir)
  }
  throw new UserError(
    'no-project',
    `${resolve(from)} is in no Tidemark project`,
    'run `tidemark init` in the project root',
  )
}

/** The id of a store that is already there: knowledge kept from before an uninstall. */
function idOfStore(storePath: string): string | undefined {
  if (!existsSync(storePath) || statSync(storePath).size === 0) return undefined
  try {
    const db = new DatabaseSync(storePath, { readOnly: true })
    try {
      return (db.prepare("SELECT value FROM meta WHERE key='project'").get() as { value: string } | undefined)?.value
    } finally {
      db.close()
    }
  } catch {
    return undefined // a damaged store is told of when it is opened, not here
  }
}

const IGNORE_HEAD = '# written by tidemark init: what belongs to this machine alone'
/** What `.tidemark/` keeps out of git: everything that belongs to this machine alone. */
const IGNORED = ['/local/', '/store/', '/handoff.md', '/swarm-state.md', '/decisions.md', '/*.edited-*.md']
const GITIGNORE = [IGNORE_HEAD, ...IGNORED, ''].join('\n')

/** Adds what an earlier `init` did not keep out of git yet. A file that somebody else wrote is theirs. */
export function ignoreViews(root: string): void {
  const path = join(root, PROJECT_DIR, '.gitignore')
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (!text.startsWith(IGNORE_HEAD)) return
  const lines = text.split('\n')
  const missing = IGNORED.filter((line) => !lines.includes(line))
  if (missing.length > 0) appendFileSync(path, `${text.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`)
}

/**
 * Makes a directory a project: `.tidemark/config.json` with a random id, and `.tidemark/.gitignore`. Of several
 * that do it at the same moment one wins, and all return its id. Says what it created.
 */
export function createProject(
  root: string,
  options: { name?: string; persistencePath?: string } = {},
): { project: Project; created: string[] } {
  const created: string[] = []
  const dir = join(root, PROJECT_DIR)
  mkdirSync(dir, { recursive: true })
  if (!existsSync(configPath(root))) {
    const id = idOfStore(storePathFor(root, options.persistencePath)) ?? randomBytes(10).toString('hex')
    const config: Config = {
      id,
      ...(options.name !== undefined ? { name: options.name } : {}),
      created: new Date().toISOString().slice(0, 10),
    }
    const fresh = join(dir, `.config-${randomBytes(6).toString('hex')}`)
    writeFileSync(fresh, `${JSON.stringify(config, null, 2)}\n`)
    try {
      linkSync(fresh, configPath(root))
      created.push(configPath(root))
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code !== 'EEXIST') {
        // a file system without hard links
        writeFileSync(configPath(root), `${JSON.stringify(config, null, 2)}\n`, { flag: 'wx' })
        created.push(configPath(root))
      }
    } finally {
      rmSync(fresh, { force: true })
    }
  }
  const ignore = join(dir, '.gitignore')
  if (!existsSync(ignore)) {
    writeFileSync(ignore, GITIGNORE)
    created.push(ignore)
  }
  return { project: projectAt(root, options.persistencePath), created }
}
