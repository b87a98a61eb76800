import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { findSecrets } from '../secrets/find.ts'
import { excludedPath, type HooksConfig } from './config.ts'
import type { Hook } from './hook.ts'

const MOST = 20

/** A path with its directory as it really lies; the file itself may not be there yet. */
function real(path: string): string {
  for (let dir = dirname(path), rest = basename(path); ; rest = join(basename(dir), rest), dir = dirname(dir)) {
    try {
      return join(realpathSync(dir), rest)
    } catch {
      if (dirname(dir) === dir) return path
    }
  }
}

/** A file's place in the work tree, with `/`; nothing for one that lies outside of it. */
export function inTree(root: string, cwd: string | undefined, path: string): string | undefined {
  if (path === '' || path.length > 4_000 || path.includes('\0')) return undefined
  const whole = real(isAbsolute(path) ? path : resolve(cwd ?? root, path))
  const inside = relative(real(join(root, '.')), whole)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return undefined
  return inside.split(sep).join('/')
}

/** Whether it may be noted: neither excluded, nor called like a secret. */
export const notable = (config: HooksConfig, path: string): boolean =>
  !excludedPath(config, path) && findSecrets(path).length === 0

/** The files that a tool writes, relative to the work tree, without those of which nothing may be noted. */
export function filesOf(hook: Hook): string[] {
  const { call, config, root } = hook
  const found = (call.tool?.paths ?? []).slice(0, MOST).flatMap((path) => inTree(root, call.cwd, path) ?? [])
  return [...new Set(found)].filter((path) => notable(config, path))
}
