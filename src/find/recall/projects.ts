import { existsSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { UserError, unlessRefused } from '../../base/errors.ts'
import { findProject, PROJECT_DIR, type Project } from '../../engine/store/project.ts'
import { entries, fileOf, listDirectory, quietly } from '../../engine/store/project-list.ts'
import { stateDirectory } from '../../engine/store/user-state.ts'
import { foldName, nearest } from '../../model/names.ts'

/** Takes a project off the list, and with it what else is none any more: where it was before it moved, its other work trees. */
export const forgetProject = (project: Pick<Project, 'root'>): void =>
  quietly(() => {
    rmSync(fileOf(project.root), { force: true })
    for (const { root, store } of entries()) if (!projectAt(root, dirname(store))) rmSync(fileOf(root), { force: true })
    for (const dir of [listDirectory(), stateDirectory()])
      if (existsSync(dir) && readdirSync(dir).length === 0) rmdirSync(dir)
  })

/** The project around a directory as it stands on the list, or as it is found; never at this process's own store. */
const projectAt = (root: string, store = ''): Project | undefined => unlessRefused(() => findProject(root, store))

/** This user's projects that have a store, by name; of several work trees of one the main one. */
export function knownProjects(): Project[] {
  const found = new Map<string, Project>()
  for (const { root, store } of entries()) {
    const project = projectAt(root, dirname(store))
    if (!project || project.root !== root || !existsSync(project.storePath)) continue
    const other = found.get(project.storePath)
    const isLinked = statSync(join(root, '.git'), { throwIfNoEntry: false })?.isFile() === true
    const main = existsSync(join(root, PROJECT_DIR, 'config.json')) && !isLinked
    if (!other || main) found.set(project.storePath, project)
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.root < b.root ? -1 : 1))
}

const isPath = (ref: string) => /^[.~]?[/\\]|^\.\.?$|^\.\.[/\\]|[/\\]|^~$/.test(ref)

/** Other projects of this user, all or by path, id or name. @throws UserError for unknown or ambiguous ones. */
export function otherProjects(here: Project, wanted: 'all' | readonly string[], among?: readonly Project[]): Project[] {
  const isHere = (p: Project) => p.id === here.id || p.storePath === here.storePath
  const known = among ?? knownProjects()
  if (wanted === 'all') return known.filter((p) => !isHere(p))
  const problems: string[] = []
  const found = new Map<string, Project>()
  for (const ref of wanted) {
    const meant = projectsMeant(ref.trim(), known, here.root).filter((p) => among === undefined || among.includes(p))
    const [one, ...more] = meant
    if (more.length > 0)
      problems.push(`"${ref}" means several: ${meant.map((p) => `${p.id} at ${p.root}`).join(' or ')}`)
    else if (one && !existsSync(one.storePath)) problems.push(`"${ref}" knows nothing yet: ${one.root} has no store`)
    else if (one) {
      if (!isHere(one)) found.set(one.storePath, one)
    } else {
      const names = new Map(known.toReversed().map((p) => [p.name, p]))
      const near = nearest(ref, names.keys()).map((name) => names.get(name)!)
      const served = among && `served are ${among.map((p) => p.name).join(', ')}`
      const hint =
        near.length > 0
          ? `did you mean ${near.map((p) => `${p.name} (${p.root})`).join(' or ')}?`
          : (served ?? 'give the path of a project, or run `tidemark init` there')
      problems.push(`no project "${ref.slice(0, 200)}"; ${hint}`)
    }
  }
  if (problems.length > 0)
    throw new UserError(
      'unknown-project',
      problems[0]!.split(';')[0]!,
      problems.length === 1 ? (problems[0]!.split('; ')[1] ?? 'say which by its path or id') : problems.join('\n'),
      { problems, known: known.map((p) => ({ id: p.id, name: p.name, root: p.root })) },
    )
  return [...found.values()]
}

function projectsMeant(ref: string, known: readonly Project[], base: string): Project[] {
  const dir = resolve(base, ref.replace(/^~(?=$|[/\\])/, process.env.HOME || homedir()))
  if (isPath(ref)) return atPath(dir, known)
  const byId = known.filter((p) => p.id === ref)
  if (byId.length > 0) return byId
  const named = known.filter((p) => foldName(p.name) === foldName(ref) || foldName(basename(p.root)) === foldName(ref))
  return named.length > 0 || ref === '' ? named : atPath(dir, known)
}

function atPath(dir: string, known: readonly Project[]): Project[] {
  const project = existsSync(dir) ? projectAt(dir) : undefined
  return project ? [known.find((p) => p.root === project.root) ?? project] : []
}
