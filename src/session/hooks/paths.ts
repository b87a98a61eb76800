import { resolve } from 'node:path'
import { attempt } from '../../base/errors.ts'
import { below, realPath } from '../../base/files.ts'
import { findSecrets } from '../../base/secrets/find.ts'
import { excludedPath, type HooksConfig } from './config.ts'
import type { Hook } from './hook.ts'

const MAX_FILES = 20

/** A file's place in the work tree, with `/`; nothing for one that lies outside of it. A link to a file there is that file. */
export function inTree(root: string, cwd: string | undefined, path: string): string | undefined {
  const at = resolve(cwd ?? root, path)
  return path === '' ? undefined : (attempt(() => below(root, realPath(at))) ?? below(root, at)) || undefined
}

export const notable = (config: HooksConfig, path: string): boolean =>
  !excludedPath(config, path) && findSecrets(path).length === 0

export function filesOf(hook: Hook, paths = hook.call.tool?.paths ?? []): string[] {
  const { call, config, root } = hook
  const found = paths.slice(0, MAX_FILES).flatMap((path) => inTree(root, call.cwd, path) ?? [])
  return [...new Set(found)].filter((path) => notable(config, path))
}
