import { existsSync } from 'node:fs'
import { basename, isAbsolute, resolve } from 'node:path'
import { findOnPath } from './path.ts'
import type { ClientContext } from './types.ts'

const isTidemark = (path: unknown) =>
  typeof path === 'string' && /^tidemark(@[\w.^~-]+)?(\.(js|mjs|cmd|exe))?$/.test(basename(path))

/** Whether a command starts Tidemark, in whatever words: `tidemark mcp`, `node …/tidemark.js mcp`, `npx -y tidemark mcp`. */
export function startsTidemark(command: unknown, args: unknown): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])]
  return words.some((word, n) => isTidemark(word) && words[n + 1] === 'mcp')
}

/** Whether a command is the one of some machine, word for word as we write it there. */
export const isLocalCommand = (command: unknown, args: unknown): boolean =>
  typeof command === 'string' &&
  isAbsolute(command) &&
  Array.isArray(args) &&
  args.length === 2 &&
  isTidemark(args[0]) &&
  args[1] === 'mcp'

/** The command of this machine, when the bare one is not on its PATH. */
export const localCommand = (ctx: ClientContext) => ({ command: ctx.launcher.node, args: [ctx.launcher.script, 'mcp'] })

/** Why a command of ours would not start, in words; undefined if it would. */
export function launchProblem(ctx: ClientContext, command: unknown, args: unknown): string | undefined {
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((w): w is string => typeof w === 'string')
  const first = words[0]
  const isPath = (word: string) => isAbsolute(word) || (word === first && /[\\/]/.test(word))
  const gone = words.find((word) => isPath(word) && !existsSync(resolve(ctx.root, word)))
  if (gone !== undefined) return `${gone} does not exist any more`
  if (first !== undefined && !isPath(first) && !findOnPath(first, ctx.env ?? process.env))
    return `the command ${first} is not on the PATH of this machine`
  return undefined
}
