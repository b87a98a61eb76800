import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { attempt, refuse, UserError } from '../../base/errors.ts'
import { appendInside, createInside, inspect, isOwn, pathIn, readInside, writeInside } from '../../base/files.ts'
import { ancestors, gitDirectory, gitRoot } from '../../base/git.ts'
import { randomBytes } from '../../base/random.ts'
import { isProjectId, slug } from '../../model/names.ts'
import { jsonIn } from '../../model/object.ts'
import { ADOPT, projectOfStore } from './owner.ts'
import { isListedUnmarked, type Project, type Settings } from './project-list.ts'
import { valueIn } from './schema.ts'
import { withSqlite } from './sqlite.ts'
import { isTrustedRoot, keepPlaces, placesOf } from './user-state.ts'

export type { Project } from './project-list.ts'

/** The folder in a project's root that says it is one. */
export const PROJECT_DIR = '.tidemark'

interface Config extends Settings {
  id: string
  /** Further ids of the project: of clones where `init` ran before they met. */
  aliases?: readonly string[]
  name?: string
  /** Repositories inside this one's work tree that belong to the project, from its root. */
  with?: readonly string[]
  created: string
}

/** Where a project's store lies, by K18; `TIDEMARK_STORE` or `persistencePath` (a directory) overrule it. */
export function storePathFor(root: string, persistencePath = process.env.TIDEMARK_STORE): string {
  if (persistencePath)
    return join(isAbsolute(persistencePath) ? persistencePath : resolve(root, persistencePath), 'store.db')
  const top = gitRoot(root)
  const git = top === undefined ? undefined : gitDirectory(top)
  if (top === undefined || git?.is !== 'own') {
    if (git?.is === 'foreign') {
      const message = `${join(top!, '.git')} names ${git.dir}, which belongs to another work tree`
      const hint =
        'if this work tree was moved, run `git worktree repair` in it; else it came with an archive: delete that file'
      throw new UserError('foreign-git', message, hint)
    }
    return join(root, PROJECT_DIR, 'store', 'store.db')
  }
  const below = relative(realpathSync(top), realpathSync(root))
  return below === ''
    ? join(git.common, 'tidemark', 'store.db')
    : join(git.common, 'tidemark', 'below', slug(below.split(sep).join('/'), true), 'store.db')
}

/** A file beside the store, for src/base/files.ts: no link is followed from the project or git's directory to it. */
export function besideStore(
  { root, storePath }: Pick<Project, 'root' | 'storePath'>,
  name: string,
): [root: string, path: string] {
  const dir = dirname(storePath)
  const way = pathIn(join(root, PROJECT_DIR), dir)
  if (way !== undefined) return [root, join(PROJECT_DIR, way, name)]
  return basename(dir) === 'tidemark' ? [dirname(dir), join('tidemark', name)] : [dir, name]
}

const CONFIG = `${PROJECT_DIR}/config.json`
const configPath = (root: string) => join(root, PROJECT_DIR, 'config.json')

/** Whether a directory has a project's configuration. @throws UserError where a link, or no file, is in its place. */
function hasConfig(root: string): boolean {
  const found = inspect(root, CONFIG)
  if (found.is === 'unsafe') {
    const hint = 'put a plain file or directory there: Tidemark follows no link inside a project'
    throw new UserError('unsafe-path', found.why, hint)
  }
  return found.is !== 'nothing'
}

/** The id stands in the store as well, from where `init` takes it. */
const WITHOUT_ID =
  'restore it from git, or delete it and run `tidemark init`, which takes the id of the project from the store; its settings are gone then'

function readConfig(root: string): Config {
  const path = configPath(root)
  const text = `${readInside(root, CONFIG) ?? ''}`
  const config = attempt(
    (): unknown => JSON.parse(text),
    (error) => mergedConfig(text) ?? refuse('bad-config', `${path} cannot be read: ${error.message}`, WITHOUT_ID),
  )
  if (!hasId(config)) throw new UserError('bad-config', `${path} has no valid id`, WITHOUT_ID)
  return config
}

const hasId = (config: unknown): config is Config => isProjectId((config as Config | null)?.id)
const aliasesOf = ({ aliases }: Config): string[] => (Array.isArray(aliases) ? aliases.filter(isProjectId) : [])

/** Merges two configurations with conflict marks, of clones that both ran `init`: one id, the other as its alias. */
function mergedConfig(text: string): Config | undefined {
  const sides: [string[], string[]] = [[], []]
  let at: readonly number[] = [0, 1]
  for (const line of text.split(/\r?\n/)) {
    const mark = /^(?:<{7} |\|{7} |={7}$|>{7} )/.exec(line)?.[0][0]
    if (mark === undefined) for (const n of at) sides[n]!.push(line)
    else at = { '<': [0], '|': [], '=': [1], '>': [0, 1] }[mark]!
  }
  const [ours, theirs] = sides.map((lines) => jsonIn(lines.join('\n')))
  if (!hasId(ours) || !hasId(theirs)) return undefined
  const ids = [...new Set([ours, theirs].flatMap((c) => [c.id, ...aliasesOf(c)]))].sort()
  const { id: _, aliases: __, ...settings } = { ...theirs, ...ours }
  return { id: ids[0]!, ...(ids.length > 1 ? { aliases: ids.slice(1) } : {}), ...settings }
}

/** Writes the configuration of a project without the marks of a conflict, if it has any that can be settled. */
export function settleConfig(root: string): boolean {
  const merged = mergedConfig(`${readInside(root, CONFIG) ?? ''}`)
  if (!merged || !`${readInside(root, CONFIG)}`.includes('<<<<<<<')) return false
  writeInside(root, CONFIG, `${JSON.stringify(merged, null, 2)}\n`)
  return true
}

/** Whoever writes in `.tidemark/` says what is done here: another user may not, as in git (`safe.directory`). */
function refuseForeign(root: string, id: string): void {
  const theirs = [join(root, PROJECT_DIR), configPath(root)].find((path) => !isOwn(statSync(path)))
  if (theirs === undefined || isTrustedRoot(id, root)) return
  const message = `${theirs} belongs to user ${statSync(theirs).uid}, not to you: the project at ${root} is not used`
  const hint = `work as that user; or, if you trust them, \`${ADOPT} --project ${root}\`; or \`tidemark init --project DIR\` in a directory of your own`
  throw new UserError('project-foreign', message, hint, { id, root })
}

/**
 * Where the store lies: as the caller says, else where one was chosen before and still is, else in its usual place. Where the
 * project has a store and a program names a place with none yet, it is that one: a second one would be empty.
 */
function storeOf(id: string, root: string, said?: string): Pick<Project, 'storePath' | 'chosen'> {
  const persistencePath = said || process.env.TIDEMARK_STORE
  const usual = storePathFor(root, '')
  const named = persistencePath ? storePathFor(root, persistencePath) : undefined
  const there = [...placesOf(id, root), usual].find((path) => existsSync(path))
  if (named !== undefined && (!said || there === undefined || existsSync(named)))
    return { storePath: named, ...(named === usual ? {} : { chosen: 'named' }) }
  const remembered = there ?? usual
  return { storePath: remembered, ...(remembered === usual ? {} : { chosen: 'remembered' }) }
}

export const storesOf = ({ id, root, storePath }: Project): string[] =>
  [...new Set([storePath, ...placesOf(id, root), storePathFor(root, '')])].filter((path) => existsSync(path))

/** Keeps in mind where the caller chose to have the store, so that every surface finds it; the first place counts. */
export function rememberPlace({ id, root, storePath, chosen }: Project): void {
  if (chosen !== 'named') return
  const places = placesOf(id, root).filter((path) => existsSync(path))
  if (places.includes(storePath)) return
  const usual = storePathFor(root, '')
  keepPlaces(id, root, [...new Set([...(places.length === 0 && existsSync(usual) ? [usual] : places), storePath])])
}

function projectAt(home: string, persistencePath?: string, root = home): Project {
  const config = readConfig(home)
  const { name = basename(home), recall, hooks, alternatives, topics, maturity, reviewers } = config
  const others = aliasesOf(config)
  // a store that was made before the clones met keeps the id that it was made for
  const there = others.length > 0 ? projectOfStore(storeOf(config.id, root, persistencePath).storePath) : undefined
  const id = there !== undefined && others.includes(there) ? there : config.id
  const aliases = [config.id, ...others].filter((other) => other !== id)
  refuseForeign(home, id)
  return {
    id,
    ...(aliases.length > 0 ? { aliases } : {}),
    name,
    root,
    ...storeOf(id, root, persistencePath),
    ...{ recall, hooks, alternatives, topics, maturity, reviewers },
  }
}

/** The nearest configuration upward. A project ends where another repository begins, unless it lists that one. */
function homeOf(from: string): { home: string; root: string; other?: string | undefined } | undefined {
  const inner: string[] = []
  for (const dir of ancestors(from)) {
    if (hasConfig(dir)) return { home: dir, root: dir, other: inner.find((path) => !isWith(dir, path)) }
    const git = gitDirectory(dir)
    if (git.is !== 'none') inner.push(dir)
    if (git.is !== 'own' || !git.linked || basename(git.common) !== '.git') continue
    const main = dirname(git.common)
    if (hasConfig(main)) return { home: main, root: dir }
  }
  return undefined
}

function isWith(home: string, inner: string): boolean {
  const listed = attempt(() => readConfig(home).with)
  return Array.isArray(listed) && listed.includes(relative(home, inner).split(sep).join('/'))
}

/** Lists a repository inside the work tree as the project's own. @throws UserError where there is none. */
function include(root: string, dir: string): void {
  const path = pathIn(root, resolve(dir))?.split(sep).join('/')
  if (path === undefined || path === '' || gitDirectory(join(root, path)).is === 'none')
    throw new UserError('no-repository', `${resolve(dir)} is no repository inside ${root}`, 'give one with --with DIR')
  if (hasConfig(join(root, path))) {
    const hint =
      '`tidemark export` there and `tidemark import` here bring what it knows; `tidemark uninstall` there ends it'
    throw new UserError('own-memory', `${path} is a Tidemark project of its own`, hint)
  }
  keepSetting(root, 'with', [...new Set([...(readConfig(root).with ?? []), path])])
}

export function keepSetting(root: string, key: 'maturity' | 'with', value: unknown): void {
  const home = homeOf(root)?.home ?? root
  writeInside(home, CONFIG, `${JSON.stringify({ ...readConfig(home), [key]: value }, null, 2)}\n`)
}

/** The project around a directory; a linked worktree shares the main one's. @throws UserError `no-project`. */
export function findProject(from: string, persistencePath?: string): Project {
  if (!existsSync(from))
    throw new UserError('no-directory', `there is no directory ${from}`, 'give an existing one with --project')
  const found = homeOf(from)
  if (found && found.other === undefined) return projectAt(found.home, persistencePath, found.root)
  const { home, other } = found ?? {}
  throw other === undefined
    ? new UserError(
        'no-project',
        `${resolve(from)} is in no Tidemark project`,
        'run `tidemark init` in the project root',
      )
    : new UserError(
        'no-project',
        `${other} is a repository of its own, in no Tidemark project; the one around it, ${home}, ends here`,
        `run \`tidemark init\` in it, or \`tidemark init --with ${relative(home!, other)}\` in ${home}`,
        { around: home },
      )
}

/** The id of a store that an uninstall left. A store that this user did not make is not read. */
function idOfStore(storePath: string): string | undefined {
  const marked = projectOfStore(storePath)
  if (marked !== undefined || !existsSync(storePath) || !isListedUnmarked(storePath)) return marked
  const sql = "SELECT value FROM meta WHERE key='project'"
  // a damaged store is told of when it is opened, not here
  return attempt(() => withSqlite(storePath, { readOnly: true }, (db) => valueIn<string>(db, sql)))
}

const IGNORE = `${PROJECT_DIR}/.gitignore`
const IGNORE_HEAD = '# written by tidemark init: what belongs to this machine alone'
/** What `.tidemark/` keeps out of git: everything that belongs to this machine alone. */
const IGNORED = ['/local/', '/store/', '/cache/', '/handoff.md', '/swarm-state.md', '/decisions.md', '/observations.md', '/mutations.md', '/archive/', '/retro/', '/*.edited-*.md'] // biome-ignore format: a list
const GITIGNORE = [IGNORE_HEAD, ...IGNORED, ''].join('\n')

/** Git may have made the ends of lines its own. */
const linesOf = (text: string): string[] => text.split(/\r?\n/)

/** Whether a `.gitignore` has only lines that we wrote. */
export const isOwnIgnore = (text: string): boolean =>
  text.startsWith(IGNORE_HEAD) &&
  linesOf(text)
    .slice(1)
    .every((line) => line === '' || line === PERSONAL || IGNORED.includes(line))

/** The line that keeps all of `.tidemark/` out of git: the project is one person's, and the team shares nothing of it. */
const PERSONAL = '*'

/** Whether the project was made with `init --personal`. */
export const isPersonal = (root: string): boolean => linesOf(`${readInside(root, IGNORE) ?? ''}`).includes(PERSONAL)

/** Refuses to share what is one person's. @throws UserError */
export function refusePersonal(root: string): void {
  if (!isPersonal(root)) return
  const message = 'this project is for you alone: it was made with `init --personal`, and .tidemark/ is kept out of git'
  throw new UserError('personal', message, 'take the line * out of .tidemark/.gitignore to share it')
}

const ATTRIBUTES = `${PROJECT_DIR}/.gitattributes`
/** Git leaves the line ends of the log as they are: their bytes have hashes. In a pull request the log is folded. */
const GITATTRIBUTES = '/log/** -text linguist-generated\n'

/** Keeps git from changing the log; says whether it had to. A file that somebody else wrote is theirs. */
export function writeAttributes(root: string): boolean {
  if (createInside(root, ATTRIBUTES, GITATTRIBUTES)) return true
  if (`${readInside(root, ATTRIBUTES) ?? ''}` !== '/log/** -text\n') return false
  writeInside(root, ATTRIBUTES, GITATTRIBUTES)
  return true
}

/** Adds what an earlier `init` did not keep out of git yet. A file that somebody else wrote is theirs. */
export function ignoreViews(root: string): void {
  const text = `${readInside(root, IGNORE) ?? ''}`
  if (!text.startsWith(IGNORE_HEAD)) return
  const lines = linesOf(text)
  const missing = IGNORED.filter((line) => !lines.includes(line))
  if (missing.length > 0) appendInside(root, IGNORE, `${text.endsWith('\n') ? '' : '\n'}${missing.join('\n')}\n`)
}

/** Makes a directory a project with a random id. Concurrent calls get the same id. Returns what it created. */
export function createProject(
  root: string,
  options: { name?: string; persistencePath?: string; personal?: boolean; with?: string } = {},
): { project: Project; created: string[] } {
  const created: string[] = []
  try {
    mkdirSync(root, { recursive: true })
    accessSync(root, constants.W_OK)
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    const hint = 'make the directory writable for you, or choose another one'
    throw new UserError('read-only', `${root} cannot be made a project: it cannot be written`, hint)
  }
  if (!hasConfig(root)) {
    const config: Config = {
      id: idOfStore(storePathFor(root, options.persistencePath)) ?? randomBytes(10).toString('hex'),
      ...(options.name !== undefined ? { name: options.name } : {}),
      created: new Date().toISOString().slice(0, 10),
    }
    if (createInside(root, CONFIG, `${JSON.stringify(config, null, 2)}\n`)) created.push(configPath(root))
  }
  const ignore = options.personal && created.length > 0 ? `${GITIGNORE}${PERSONAL}\n` : GITIGNORE
  if (createInside(root, IGNORE, ignore)) created.push(join(root, IGNORE))
  else if (inspect(root, IGNORE).is === 'file' && readInside(root, IGNORE)?.length === 0)
    writeInside(root, IGNORE, GITIGNORE) // an earlier version was killed while it wrote it
  if (!isPersonal(root) && writeAttributes(root)) created.push(join(root, ATTRIBUTES))
  if (options.with !== undefined) include(root, options.with)
  return { project: projectAt(root, options.persistencePath), created }
}
