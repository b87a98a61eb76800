import { existsSync } from 'node:fs'
import { basename, isAbsolute } from 'node:path'
import { findOnPath } from './path.ts'
import type { ClientContext } from './types.ts'

const isTidemark = (path: unknown) => typeof path === 'string' && /^tidemark(\.(js|mjs|cmd|exe))?$/.test(basename(path))

/** Whether an entry starts Tidemark, the way we write it now or wrote it on another machine: `tidemark mcp`, `node …/tidemark.js mcp`. */
export function isOurCommand(command: unknown, args: unknown): boolean {
  if (!Array.isArray(args)) return false
  if (isTidemark(command)) return args[0] === 'mcp'
  return isTidemark(args[0]) && args[1] === 'mcp'
}

/** The command of this machine, when the bare one is not on its PATH. */
export const localCommand = (ctx: ClientContext) => ({ command: ctx.launcher.node, args: [ctx.launcher.script, 'mcp'] })

/** Why a command of ours would not start, in words; undefined if it would. */
export function launchProblem(ctx: ClientContext, command: unknown, args: unknown): string | undefined {
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((w): w is string => typeof w === 'string')
  const gone = words.find((word) => isAbsolute(word) && !existsSync(word))
  if (gone !== undefined) return `${gone} does not exist any more`
  const bare = words[0]
  if (bare !== undefined && !isAbsolute(bare) && !findOnPath(bare, ctx.env ?? process.env))
    return `the command ${bare} is not on the PATH of this machine`
  return undefined
}
