import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join, sep } from 'node:path'
import { attempt } from '../../../base/errors.ts'
import { realPath, below as wayBelow } from '../../../base/files.ts'
import { gitCommonDir, gitRoot } from '../../../base/git.ts'
import { CLIENT_FACTS, type ClientName } from '../../../work/coordination/clients.ts'
import type { ClientContext } from './types.ts'

type Env = Readonly<Record<string, string | undefined>>

const isExecutable = (file: string): boolean =>
  attempt(() => {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  }) ?? false

export function findOnPath(command: string, env: Env): string | undefined {
  const endings = process.platform === 'win32' ? ['', ...(env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';')] : ['']
  for (const dir of (env.PATH ?? env.Path ?? '').split(delimiter).filter((dir) => isAbsolute(dir)))
    for (const end of endings) if (isExecutable(join(dir, command + end))) return join(dir, command + end)
  return undefined
}

/** How tidemark can be started here. What npm and npx put on the PATH of their children does not last. */
export function launcherOf(script: string, env: Env): ClientContext['launcher'] {
  const lasting = (env.PATH ?? env.Path ?? '')
    .split(delimiter)
    .filter((dir) => !dir.includes(`${sep}_npx${sep}`) && !dir.endsWith(join('node_modules', '.bin')))
  const onPath = findOnPath('tidemark', { ...env, PATH: lasting.join(delimiter) }) !== undefined
  return { onPath, node: process.execPath, script }
}

export function seen(ctx: ClientContext, client: ClientName, places: readonly string[], ...commands: string[]) {
  const place = places.find((path) => existsSync(path))
  if (place) return { found: true, why: `${place} is there` }
  const command = commands.map((name) => findOnPath(name, ctx.env ?? process.env)).find((path) => path !== undefined)
  return command
    ? { found: true, why: `${command} is there` }
    : { found: false, why: `no sign of ${CLIENT_FACTS[client].title}` }
}

/** The folder of the project that the client is started in, where that is not its root. */
export const below = (ctx: ClientContext): string | undefined => wayBelow(ctx.root, ctx.from ?? ctx.root) || undefined

/** The real path of the main work tree: the key of a project in Claude Code 2.1.330 and Codex 0.169 (seen in runs). */
export function mainWorkTree(root: string): string {
  const top = gitRoot(root)
  const common = top && gitCommonDir(top)
  return realPath(common && basename(common) === '.git' ? dirname(common) : (top ?? root))
}
