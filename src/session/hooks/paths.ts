import { resolve } from 'node:path'
import { attempt } from '../../base/errors.ts'
import { below, realPath } from '../../base/files.ts'
import { findSecrets } from '../../base/secrets/find.ts'
import { excludedPath, type HooksConfig } from './config.ts'
import type { Hook } from './hook.ts'

const MAX_FILES = 20

/** A file's place in the work tree, with `/`; nothing for one that lies outside of it. */
export const inTree = (root: string, cwd: string | undefined, path: string): string | undefined =>
  path === '' ? undefined : below(root, resolve(cwd ?? root, path)) || undefined

export const notable = (config: HooksConfig, path: string): boolean =>
  !excludedPath(config, path) && findSecrets(path).length === 0

/** The files of a call; of a link to a file of the work tree also that file: who edits one edits the other. */
export function filesOf(hook: Hook, paths = hook.call.tool?.paths ?? []): string[] {
  const { call, config, root } = hook
  const found = paths.slice(0, MAX_FILES).flatMap((path) => {
    const at = inTree(root, call.cwd, path)
    return at === undefined ? [] : [at, attempt(() => below(root, realPath(resolve(root, at)))) || at]
  })
  return [...new Set(found)].filter((path) => notable(config, path))
}
