import { accessSync, constants, existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { UsageError, UserError, unlessRefused } from '../../../base/errors.ts'
import { realPath, removeInside } from '../../../base/files.ts'
import { gitRoot, linkedWorkTrees, workTreeOf } from '../../../base/git.ts'
import { contentsOf, deleteStore, dropLastSnapshots, lastSnapshots } from '../../../engine/store/deletion.ts'
import { directoriesOf, type OwnFile, ownFiles } from '../../../engine/store/file-places.ts'
import { findProject, isOwnIgnore, PROJECT_DIR, type Project, storePathFor } from '../../../engine/store/project.ts'
import { listedStore } from '../../../engine/store/project-list.ts'
import { hubOf, keepHub, stateDirectory } from '../../../engine/store/user-state.ts'
import { forgetProject, knownProjects } from '../../../find/recall/projects.ts'
import type { Json } from '../../../model/field.ts'
import { localMinute } from '../../../model/times.ts'
import { many } from '../../../session/briefing/format.ts'
import { removeIfEmpty } from '../../../session/clients/common/files.ts'
import { journalFiles, keepJournal } from '../../../session/clients/common/journal.ts'
import { applyUnwiring, planUnwiring, sweepLeft } from '../../../session/clients/wiring.ts'
import { ownViews } from '../../../work/handoff/views/refresh.ts'
import { countedKinds } from '../../tools/format.ts'
import { agreed, refuseAgents } from '../ask.ts'
import type { Command, CommandCall } from '../command.ts'
import { clientContext, shownFile } from './launcher.ts'

const storeFilesOf = (storePath: string): OwnFile[] =>
  ownFiles('store', realPath(dirname(storePath)), basename(storePath))

/** The project; where an uninstall has been before, or was killed, what it left. */
function projectOrRest(directory: string, deleting: boolean): Project {
  const refused = (error: UserError): Project => {
    const root = gitRoot(directory) ?? resolve(directory)
    // never what TIDEMARK_STORE names: that may be another project's
    const storePath = listedStore(root) ?? storePathFor(root, '')
    if (storeFilesOf(storePath).length === 0) throw error
    if (deleting) return { id: '', name: basename(root), root, storePath }
    throw new UserError(
      'no-project',
      `${root} was taken out already; its knowledge is kept in ${storePath}`,
      '`tidemark uninstall --delete-knowledge` deletes that too, `tidemark init` takes it up again',
    )
  }
  return unlessRefused(() => findProject(directory), refused, 'no-project')
}

/** Our files in a work tree that may go: what somebody wrote into one of them stays. */
function treeFiles(root: string): OwnFile[] {
  const own = new Set(ownViews(root))
  return ownFiles('tree', join(root, PROJECT_DIR)).filter(({ kind, path }) => {
    if (kind.removed !== 'always') return false
    if (kind.path === '{view}.md') return own.has(basename(path))
    return kind.path !== '.gitignore' || isOwnIgnore(readFileSync(path, 'utf8'))
  })
}

/** What lies in a directory of ours and is not in the list, by its path. */
function leftIn(dir: string, going: readonly OwnFile[]): string[] {
  if (!existsSync(dir)) return []
  const paths = new Set(going.map((f) => f.path))
  const dirs = new Set(['tree' as const, 'store' as const].flatMap(directoriesOf).flatMap((d) => d.split('/')))
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name)
    if (entry.isDirectory() && dirs.has(entry.name)) return leftIn(path, going)
    return paths.has(path) ? [] : [path]
  })
}

/** What an uninstall deletes, file by file, and what it leaves although it lies there; `elsewhere`: views in other work trees. */
function planOf(project: Project, deleting: boolean) {
  const { root, storePath } = project
  const common = workTreeOf(root)?.common
  const trees = common === undefined ? [] : linkedWorkTrees(common).filter((tree) => tree !== root)
  const others = deleting ? trees : []
  const isShared =
    mainOf(project) !== undefined || trees.some((tree) => existsSync(join(tree, PROJECT_DIR, 'config.json')))
  const stored = storeFilesOf(storePath)
  // what somebody typed is no knowledge of the project, and nobody is left to forget it
  const typed =
    deleting || isShared || holderOf(project) !== undefined
      ? []
      : stored.filter((f) => /^prompts\.db/.test(f.kind.path))
  const tree = [...treeFiles(root), ...typed]
  const store = deleting ? stored : []
  const home = join(root, PROJECT_DIR)
  const storeDir = dirname(storePath)
  return {
    tree,
    store,
    elsewhere: others.flatMap((other) => treeFiles(other).filter((f) => f.kind.knowledge)),
    left: [
      ...leftIn(home, tree).filter((path) => path !== join(home, 'store')),
      ...(deleting && existsSync(storeDir) ? leftIn(realpathSync(storeDir), store) : []),
    ],
  }
}

/** The main work tree of a linked one, whose store it shares; a bare repository has none. */
function mainOf({ root, storePath }: Project): string | undefined {
  const git = workTreeOf(root)
  if (!git?.linked || !storePath.startsWith(git.common)) return undefined
  const main = dirname(git.common)
  return basename(git.common) === '.git' && existsSync(main) ? main : undefined
}

/** The knowledge of a repository belongs to all of its work trees: it is deleted from the main one. */
function refuseLinked(project: Project): void {
  const main = mainOf(project)
  if (main === undefined) return
  throw new UserError(
    'shared-store',
    `${project.root} is a linked work tree: its knowledge belongs to all work trees of ${main}`,
    `\`tidemark uninstall\` takes Tidemark out of this one; \`tidemark uninstall --delete-knowledge --project ${main}\` deletes the knowledge of all`,
  )
}

/** The other project that a store is of. */
function holderOf({ id, storePath }: Project): string | undefined {
  const holder = contentsOf(storePath)?.project
  return id === '' || holder === id ? undefined : holder
}

function refuseForeign(project: Project): void {
  const holder = holderOf(project)
  if (holder === undefined) return
  throw new UserError(
    'other-project',
    `the store ${project.storePath} belongs to project ${holder}, not to ${project.id}: it is not deleted`,
    'TIDEMARK_STORE may name a directory of another project; nothing was changed',
  )
}

/** Everything that can be known to go wrong goes wrong before the first change. */
function refuseUnwritable(files: readonly OwnFile[]): void {
  for (const dir of new Set(files.map((f) => dirname(f.path))))
    try {
      accessSync(dir, constants.W_OK | constants.X_OK)
    } catch {
      throw new UserError('not-writable', `${dir} cannot be written`, 'make it writable; nothing was changed')
    }
}

const MB = 1024 * 1024

/** What goes with the knowledge, for a person who decides. */
function tellKnowledge(call: CommandCall, project: Project, plan: ReturnType<typeof planOf>, keeps: boolean): Json {
  const contents = contentsOf(project.storePath)
  const bytes = plan.store.reduce((sum, f) => sum + f.size, 0)
  const names = plan.store.map((f) => relative(realpathSync(dirname(project.storePath)), f.path))
  call.out(`  delete  the knowledge of ${project.name}, in ${dirname(project.storePath)}:`)
  if (contents) {
    const last = contents.last === undefined ? '' : `, the last of ${localMinute(contents.last)}`
    call.out(
      `            ${countedKinds(contents.kinds) || 'nothing recorded'}; ${many(contents.batches, 'batch', 'batches')}${last}`,
    )
  } else if (existsSync(project.storePath)) call.out('            what it holds cannot be told: it is damaged')
  call.out(`            ${many(names.length, 'file')}, ${(bytes / MB).toFixed(1)} MB: ${names.join(', ')}`)
  const trees = [...new Set(plan.elsewhere.map((f) => dirname(f.path).split(`/${PROJECT_DIR}`)[0]!))]
  if (trees.length > 0) call.out(`            it is also that of ${trees.join(', ')}: the views there go too`)
  call.out(
    keeps
      ? '  keep    a last snapshot of it, for 30 days'
      : '  delete  the last snapshots of it as well: it cannot be brought back',
  )
  return contents === undefined ? null : (contents as unknown as Json)
}

/** More than so many are a number; --json names them. */
const SHOWN = 10

function whyLeft(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return 'it is a link, and Tidemark makes none'
  if (basename(path) === 'below') return 'the knowledge of projects in folders below'
  if (basename(path) === '.gitignore') return 'it has lines that Tidemark did not write'
  if (/\/log\/[^/]+$/.test(path)) return 'what the team shares through git'
  if (/\/\.tidemark\/retro\/[^/]+$/.test(path)) return 'a report of a retro, and yours to keep'
  return /\.edited-[^/]{0,255}$|\/(handoff|swarm-state|decisions)\.md$/.test(path)
    ? 'it was edited by hand, and nothing has read that yet'
    : 'Tidemark did not make it'
}

function tellLeft(call: CommandCall, root: string, left: readonly string[]): void {
  for (const path of left.slice(0, SHOWN)) {
    const inside = relative(root, path)
    call.out(`  leave   ${inside.startsWith('..') ? path : inside}: ${whyLeft(path)}`)
  }
  if (left.length > SHOWN) call.out(`  leave   ${many(left.length - SHOWN, 'other')} that Tidemark did not make`)
}

/** What becomes of a client's file, in the words of the list. */
const DOES = { none: 'leave  ', delete: 'delete ', create: 'restore', edit: 'restore' } as const

export const uninstall: Command = {
  name: 'uninstall',
  about:
    'takes Tidemark out of this project: every client file byte for byte as it was; the knowledge stays unless --delete-knowledge',
  example: 'tidemark uninstall --dry-run',
  flags: {
    'dry-run': { type: 'flag', about: 'say what would be done, do nothing' },
    'delete-knowledge': {
      type: 'flag',
      about: 'delete the store and its snapshots as well; shows what goes and asks. A last snapshot stays for 30 days',
    },
    purge: { type: 'flag', about: 'with --delete-knowledge: keep no last snapshot, and delete earlier ones' },
    yes: { type: 'flag', about: 'with --delete-knowledge: do not ask' },
  },
  async run(call) {
    const deleting = call.flags['delete-knowledge'] === true
    const keeps = deleting && call.flags.purge !== true
    if (call.flags.purge === true && !deleting)
      throw new UsageError('--purge goes with --delete-knowledge', 'to erase one entity: `tidemark forget --erase`')
    const project = projectOrRest(call.directory, deleting)
    const { root, storePath } = project
    if (deleting) {
      refuseLinked(project)
      refuseForeign(project)
    }
    const context = clientContext(root)
    const changes = planUnwiring(context)
    const plan = planOf(project, deleting)
    refuseUnwritable([...plan.store, ...plan.elsewhere, ...plan.tree])
    const dry = call.flags['dry-run'] === true

    call.out(`${dry ? 'would take' : 'taking'} Tidemark out of ${root}:`)
    for (const c of changes) call.out(`  ${DOES[c.action]} ${shownFile(context, c.file)}: ${c.why}`)
    const shared = mainOf(project) !== undefined // what the user allows holds for all work trees
    const joined = shared ? undefined : hubOf(project.id, storePath)
    if (joined) call.out(`  leave   the hub ${joined.url}, and forget its token`)
    for (const [dir, of] of Map.groupBy(plan.tree, ({ path }) => dirname(relative(root, path))))
      if (of.length > SHOWN) call.out(`  delete  ${dir}/ (${many(of.length, 'file')} of Tidemark)`)
      else for (const { path } of of) call.out(`  delete  ${relative(root, path)}`)
    let contents: Json = null
    if (deleting) contents = tellKnowledge(call, project, plan, keeps)
    else call.out(`  keep    the knowledge: ${storePath} (init finds it again)`)
    tellLeft(call, root, plan.left)
    const json = {
      root,
      clients: changes.map((c) => ({ client: c.client, file: c.file, action: c.action })),
      store: storePath,
      knowledge: deleting ? 'deleted' : 'kept',
      files: [...plan.tree, ...plan.elsewhere, ...plan.store].map((f) => f.path),
      left: [...plan.left],
      ...(deleting ? { contents } : {}),
    }
    if (dry) return { json: { ...json, dryRun: true } }
    refuseAgents(call.directory)
    if (deleting && !(await agreed(call, 'delete all of that?')))
      return { json: { ...json, knowledge: 'kept', files: [] }, code: 1 }

    const now = Date.now()
    const state = stateDirectory()
    if (joined) keepHub(project.id, storePath)
    sweepLeft(context, now)
    applyUnwiring(context, changes)
    keepJournal(root, new Map(journalFiles(root).map((file) => [file, null])))
    // the configuration goes last of what is in the tree: no hook that still runs makes a store anew
    const isConfig = (f: OwnFile) => f.kind.path === 'config.json'
    for (const f of [...plan.elsewhere, ...plan.tree.toSorted((a, b) => Number(isConfig(a)) - Number(isConfig(b)))])
      removeInside(dirname(f.path), basename(f.path))
    const id = project.id || contentsOf(storePath)?.project || 'unknown'
    let kept: string | undefined
    if (deleting)
      kept = deleteStore({
        path: join(realPath(dirname(storePath)), basename(storePath)),
        files: plan.store,
        keepIn: keeps ? state : undefined,
        project: id,
        name: `${project.name}, ${root}`,
        now,
      })
    dropLastSnapshots(state, now, keeps || !deleting ? undefined : id)
    for (const dir of new Set([
      ...directoriesOf('tree').map((d) => join(root, PROJECT_DIR, d)),
      ...[...plan.elsewhere, ...plan.store].map((f) => dirname(f.path)),
    ]))
      if (dir !== realPath(dirname(storePath))) removeIfEmpty(dir)
    if (deleting) removeStoreDirectories(project)
    removeIfEmpty(join(root, PROJECT_DIR))
    // another clone of the project knows its own store by the same secret; a last snapshot that is kept does so as well
    if (call.flags.purge === true && !knownProjects().some((p) => p.id === id && p.storePath !== storePath)) {
      for (const path of [`stores/${id}`, `stores/${id}.json`, `keys/${id}`]) removeInside(state, path)
      for (const dir of ['stores', 'keys']) removeIfEmpty(join(state, dir))
    }
    forgetProject(project)
    if (process.env.TIDEMARK_STATE === undefined) removeIfEmpty(state)
    kept ??= keeps ? lastSnapshots(state).find((s) => s.project === id)?.path : undefined
    if (kept !== undefined) call.out(`for 30 days this brings the knowledge back: tidemark init --from ${kept}`)
    call.out('done')
    return { json: { ...json, ...(kept === undefined ? {} : { lastSnapshot: kept }) } }
  },
}

/** Directories of the store that are empty now; of a place that the user chose the directory itself stays. */
function removeStoreDirectories({ root, storePath }: Project): void {
  const dir = dirname(storePath)
  for (const below of directoriesOf('store')) removeIfEmpty(join(dir, below))
  if (storePath !== storePathFor(root, '')) return
  for (let at = dir; /^(tidemark|below|store)$/.test(basename(at)) || at === dir; at = dirname(at)) removeIfEmpty(at)
}
