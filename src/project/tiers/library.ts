/**
 * tiers: knowledge that is wider than a project. `surfaces/library.ts` is the user's own store, `wider.ts` what it says to a
 * session. `promote.ts` is the way up.
 */

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { whenRefused } from '../../base/errors.ts'
import { writeInside } from '../../base/files.ts'
import type { Memory } from '../../engine/memory.ts'
import { createProject, findProject, PROJECT_DIR, type Project } from '../../engine/store/project.ts'
import { stateDirectory } from '../../engine/store/user-state.ts'
import { markdown } from '../../travel/formats/export/markdown.ts'
import { openProject } from '../open.ts'

const storeIn = (root: string): string => join(root, PROJECT_DIR, 'store')

export const libraryRoot = (): string => join(stateDirectory(), 'library')

export const hasLibrary = (): boolean => existsSync(join(storeIn(libraryRoot()), 'store.db'))

/** An ordinary project in the user's state directory: every command works on it with `--project`. Made if it is missing. */
function libraryProject(): Project {
  const root = libraryRoot()
  const persistencePath = storeIn(root)
  if (existsSync(join(root, PROJECT_DIR))) return findProject(root, persistencePath)
  mkdirSync(root, { recursive: true, mode: 0o700 })
  return createProject(root, { name: 'library', persistencePath, personal: true }).project
}

/** The user's library; `unlisted`, for it is no project of theirs. */
export const openLibrary = (): Memory => openProject(libraryProject(), { unlisted: true })

/** Asks the library, if there is one. Returns notes: why it cannot be read. */
export async function askLibrary(ask: (library: Memory) => unknown): Promise<string[]> {
  if (!hasLibrary()) return []
  const asking = async (): Promise<string[]> => {
    using library = openLibrary()
    await ask(library)
    return []
  }
  return asking().catch(whenRefused(({ message, hint }) => [`${message}; ${hint}`]))
}

/** The library as pages for its user: all of it, and the rules alone. */
export function writePages(memory: Memory): void {
  for (const [page, kind] of Object.entries({ 'library.md': undefined, 'profile.md': 'fact' })) {
    const text = markdown.write(memory, { ...(kind && { kind }), command: kind ? ` --kind ${kind}` : '' })
    writeInside(libraryRoot(), page, text, { mode: 0o600 })
  }
}
