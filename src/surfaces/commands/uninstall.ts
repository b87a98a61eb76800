import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { applyUnwiring, planUnwiring } from '../../clients/wiring.ts'
import { UserError } from '../../errors.ts'
import { gitRoot } from '../../git.ts'
import { forbidExtraction } from '../../hooking/extract/allowed.ts'
import { forgetProject } from '../../recall/projects.ts'
import { ownViews, VIEWS } from '../../sessions/views/index.ts'
import { findProject, PROJECT_DIR, type Project, storePathFor } from '../../store/project.ts'
import type { Command } from '../command.ts'
import { extractorHere } from './extractor.ts'
import { clientContext } from './launcher.ts'

/** Removes a directory if nothing is left in it. */
function removeIfEmpty(dir: string): void {
  if (existsSync(dir) && readdirSync(dir).length === 0) rmdirSync(dir)
}

/** The project; where an uninstall has been before, what it left: the knowledge, to be deleted after all. */
function projectOrRest(directory: string, deleting: boolean): Project {
  try {
    return findProject(directory)
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'no-project') throw error
    const root = gitRoot(directory) ?? resolve(directory)
    const storePath = storePathFor(root, '') // never what TIDEMARK_STORE names: that may be another project's
    if (!existsSync(storePath)) throw error
    if (deleting) return { id: '', name: basename(root), root, storePath }
    throw new UserError(
      'no-project',
      `${root} was taken out already; its knowledge is kept in ${storePath}`,
      '`tidemark uninstall --delete-knowledge` deletes that too, `tidemark init` takes it up again',
    )
  }
}

export const uninstall: Command = {
  name: 'uninstall',
  about:
    'takes Tidemark out of this project: every client file byte for byte as it was; the knowledge stays unless --delete-knowledge',
  usage: '',
  example: 'tidemark uninstall --dry-run',
  flags: {
    'dry-run': { type: 'flag', about: 'say what would be done, do nothing' },
    'delete-knowledge': { type: 'flag', about: 'delete the store and its snapshots as well; cannot be undone' },
  },
  async run(call) {
    const project = projectOrRest(call.directory, call.flags['delete-knowledge'] === true)
    const context = clientContext(project.root)
    const changes = planUnwiring(context)
    const dry = call.flags['dry-run'] === true
    const deleting = call.flags['delete-knowledge'] === true
    const storeDir = dirname(project.storePath)
    call.out(`${dry ? 'would take' : 'taking'} Tidemark out of ${project.root}:`)
    for (const c of changes) {
      const inside = relative(project.root, c.file)
      call.out(
        `  ${c.action === 'none' ? 'leave  ' : c.action === 'delete' ? 'delete ' : 'restore'} ${inside.startsWith('..') ? c.file.replace(context.home, '~') : inside}: ${c.why}`,
      )
    }
    const views = VIEWS.map((v) => v.name).filter((name) => existsSync(join(project.root, PROJECT_DIR, name)))
    const own = ownViews(project.root)
    for (const name of views)
      call.out(
        own.includes(name)
          ? `  delete  ${PROJECT_DIR}/${name}`
          : `  leave   ${PROJECT_DIR}/${name}: it was edited by hand, and nothing has read that yet`,
      )
    const extractor = extractorHere(call)
    if (extractor !== undefined) call.out(`  end     what reads the transcripts of sessions: ${extractor}`)
    if (existsSync(join(project.root, PROJECT_DIR, 'config.json')))
      call.out(`  delete  ${PROJECT_DIR}/config.json and ${PROJECT_DIR}/.gitignore`)
    call.out(
      deleting
        ? `  delete  the knowledge: ${storeDir}`
        : `  keep    the knowledge: ${project.storePath} (init finds it again)`,
    )
    const json = {
      root: project.root,
      clients: changes.map((c) => ({ client: c.client, file: c.file, action: c.action })),
      store: project.storePath,
      knowledge: deleting ? 'deleted' : 'kept',
    }
    if (dry) return { json: { ...json, dryRun: true } }
    forbidExtraction(project)
    applyUnwiring(context, changes)
    const dir = join(project.root, PROJECT_DIR)
    if (deleting) rmSync(storeDir, { recursive: true, force: true })
    for (const name of ['config.json', '.gitignore', 'local', ...own])
      rmSync(join(dir, name), { recursive: true, force: true })
    removeIfEmpty(dir)
    forgetProject(project)
    call.out('done')
    return { json }
  },
}
