/**
 * tiers: knowledge that is wider than a project. `library.ts` is the user's own store, `community.ts` reads packages,
 * `wider.ts` is what both say to a project, and what of it the project overrides. `promote.ts` is the way up.
 */

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeInside } from '../files.ts'
import { markdown } from '../formats/export/markdown.ts'
import type { Memory } from '../memory.ts'
import { openProject } from '../open.ts'
import { createProject, findProject, PROJECT_DIR, type Project } from '../store/project.ts'
import { stateDirectory } from '../store/state.ts'

const storeIn = (root: string): string => join(root, PROJECT_DIR, 'store')

/** An ordinary project in the user's state directory: every command works on it with `--project`. Made if it is missing. */
export function projectInState(root: string, name: string): Project {
  const persistencePath = storeIn(root)
  if (existsSync(join(root, PROJECT_DIR))) return findProject(root, persistencePath)
  mkdirSync(root, { recursive: true, mode: 0o700 })
  return createProject(root, { name, persistencePath, personal: true }).project
}

export const libraryRoot = (): string => join(stateDirectory(), 'library')

/** Whether the user has a library: one look. */
export const hasLibrary = (): boolean => existsSync(join(storeIn(libraryRoot()), 'store.db'))

/** The user's library; `unlisted`, for it is no project of theirs. */
export function openLibrary(): { memory: Memory; project: Project } {
  const project = projectInState(libraryRoot(), 'library')
  return { project, memory: openProject(project, { unlisted: true }) }
}

/** The library as pages for its user: all of it, and the rules alone. */
export function writePages(memory: Memory): void {
  const pages = { 'library.md': undefined, 'profile.md': 'fact' }
  for (const [page, kind] of Object.entries(pages)) {
    const text = markdown.write(memory, { ...(kind && { kind }), command: kind ? ` --kind ${kind}` : '' })
    writeInside(libraryRoot(), page, text, { mode: 0o600 })
  }
}
