import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, relative, sep } from 'node:path'
import type { Env } from '../base/env.ts'
import { attempt } from '../base/errors.ts'
import { gitState, gitUser } from '../base/git.ts'
import { Memory } from '../engine/memory.ts'
import { reviewersNamed, settleReviewers } from '../engine/replication/reviewers.ts'
import type { Author } from '../engine/store/line.ts'
import { treeName } from '../engine/store/owner.ts'
import { findProject, type Project, rememberPlace } from '../engine/store/project.ts'
import { isListedUnmarked, quietly, rememberProject, treesOf } from '../engine/store/project-list.ts'
import { stateDirectory } from '../engine/store/user-state.ts'
import { KINDS } from '../model/kinds/index.ts'
import { RELATIONS } from '../model/relations.ts'
import { rewriteErased } from '../travel/sync/publish.ts'
import { receiveChanges } from '../travel/sync/receive.ts'
import { VERBS } from './verbs/index.ts'

export interface OpenOptions {
  /** A directory in the project; the working directory unless given. */
  projectPath?: string
  /** Where the store lies, instead of the git common directory (K18). */
  persistencePath?: string
  env?: Env
  /** Who acts, unless a call says otherwise. */
  author?: Author
  /** The caller has made the file itself, or knows who did. */
  isOurs?: boolean
  /** Keep it off the list of this user's projects: it will soon be gone. */
  unlisted?: boolean
  /** As in MemoryOptions. */
  hurried?: boolean
}

/** Who works at this machine: as git calls them, else the account. */
export const userName = (root: string): string | undefined =>
  process.env.TIDEMARK_USER || gitUser(root) || attempt(() => userInfo().username) // in some containers there is none

/** Who acts here, on what branch: as the provenance of what they write says it. */
export function hereOf(project: Project): { user?: string; branch?: string } {
  return { user: userName(project.root), branch: gitState(project.root).branch }
}

/** The caller named a place outside of the project: what lies inside may have come with the repository. */
const isNamedOutside = ({ chosen, root, storePath }: Project): boolean =>
  chosen === 'named' && relative(root, dirname(storePath)).split(sep)[0] === '..'

/** Opens the memory of a project that exists; its store is made at first use. */
export function openProject(
  project: Project,
  options: Omit<OpenOptions, 'projectPath' | 'persistencePath'> = {},
): Memory {
  let here: { user?: string; tree?: string } | undefined
  let isNew = !existsSync(project.storePath)
  const memory: Memory = new Memory({
    path: project.storePath,
    projectId: project.id,
    aliases: project.aliases,
    projectName: project.name,
    kinds: KINDS,
    relations: RELATIONS,
    verbs: VERBS,
    create: true,
    mayTakeOver: () => {
      isNew = true
      return options.isOurs || isNamedOutside(project) || isListedUnmarked(project.storePath)
    },
    ownDirectory: project.chosen === undefined,
    places: () => ({ trees: treesOf(project), state: stateDirectory(), project: project.id }),
    rewriteShared: () => treesOf(project).flatMap((root) => rewriteErased(memory, root)),
    env: options.env,
    hurried: options.hurried,
    author: () => ({
      ...(process.env.TIDEMARK_SESSION ? { session: process.env.TIDEMARK_SESSION } : {}),
      ...(here ??= { user: userName(project.root), tree: treeName(project.id, project.root) }),
      ...gitState(project.root),
      ...options.author,
    }),
  })
  settleReviewers(memory.db, reviewersNamed(project.reviewers))
  if (!options.hurried) memory.settleTrust()
  if (!options.unlisted) {
    if (isNew) rememberProject(project)
    quietly(() => rememberPlace(project))
  }
  return memory
}

/** Opens the memory of the project around a directory. @throws UserError `no-project` where there is none. */
export function openAt(options: OpenOptions = {}): { project: Project; memory: Memory } {
  const project = findProject(options.projectPath ?? process.cwd(), options.persistencePath)
  const memory = openProject(project, options)
  receiveChanges(memory, project.root)
  return { project, memory }
}
