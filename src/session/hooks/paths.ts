import { resolve } from 'node:path'
import { below } from '../../base/files.ts'
import { findSecrets } from '../../base/secrets/find.ts'
import { excludedPath, type HooksConfig } from './config.ts'
import type { Hook } from './hook.ts'

const MAX_FILES = 20

/** A file's place in the work tree, with `/`; nothing for one that lies outside of it. */
export const inTree = (root: string, cwd: string | undefined, path: string): string | undefined =>
  path === '' ? undefined : below(root, resolve(cwd ?? root, path)) || undefined

export const notable = (config: HooksConfig, path: string): boolean =>
  !excludedPath(config, path) && findSecrets(path).length === 0

export function filesOf(hook: Hook, paths = hook.call.tool?.paths ?? []): string[] {
  const { call, config, root } = hook
  const found = paths.slice(0, MAX_FILES).flatMap((path) => inTree(root, call.cwd, path) ?? [])
  return [...new Set(found)].filter((path) => notable(config, path))
}
