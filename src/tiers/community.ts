import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../errors.ts'
import { inspect, readInside } from '../files.ts'
import type { Memory } from '../memory.ts'
import { sha256 } from '../model/digest.ts'
import { openProject } from '../open.ts'
import { PROJECT_DIR, type Project } from '../store/project.ts'
import { stateDirectory } from '../store/state.ts'
import { projectInState } from './library.ts'

/** Where a package has its knowledge, the first that is there. */
const IN_PACKAGE = ['knowledge/global.md', 'knowledge/global.json', 'global.md']
const MOST_PACKAGES = 10

/** One package that the project names, as a path in it. */
interface Package {
  readonly name: string
  readonly file: string
  readonly bytes: Buffer
}

/** The packages in `community` of the configuration. @throws UserError for one that cannot be read. */
export function packageAt(root: string, name: string): Package {
  const folder = inspect(root, name).is === 'directory'
  const files = folder ? IN_PACKAGE.map((f) => join(name, f)) : [name]
  const file = files.find((f) => inspect(root, f).is === 'file')
  const bytes = file === undefined ? undefined : readInside(root, file)
  if (file !== undefined && bytes !== undefined) return { name, file, bytes }
  throw new UserError(
    'no-package',
    `community: ${name} is no package of knowledge inside the project`,
    `name a Markdown file, an export (.json), or a directory with ${IN_PACKAGE[0]}; no link is followed`,
  )
}

export const packagesNamed = ({ community }: Project): string[] =>
  (Array.isArray(community) ? community : typeof community === 'string' ? [community] : [])
    .filter((name): name is string => typeof name === 'string' && name !== '')
    .slice(0, MOST_PACKAGES)

/** Where a project's packages are kept as stores: they can be made again. */
export const packagesOf = (id: string): string => join(stateDirectory(), 'community', id)

/** Opens the store of a package. */
export type OpenPackage = (project: Project, name: string) => Promise<Memory | undefined>

export const storeOf = ({ id }: Project, name: string): string => join(packagesOf(id), sha256(name).slice(0, 16))

/** A package as it was read last, for those who have no time to read it anew; nothing where it was never read. */
export const openRead: OpenPackage = async (project, name) => {
  packageAt(project.root, name)
  const at = storeOf(project, name)
  return existsSync(join(at, PROJECT_DIR)) ? openProject(projectInState(at, name), { unlisted: true }) : undefined
}
