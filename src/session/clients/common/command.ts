import { existsSync } from 'node:fs'
import { basename, isAbsolute, resolve } from 'node:path'
import { findOnPath } from './path.ts'
import type { ClientContext } from './types.ts'

const isTidemark = (path: unknown) =>
  typeof path === 'string' && /^tidemark(@[\w.^~-]+)?(\.(js|mjs|cmd|exe))?$/.test(basename(path))

const INSTALL = 'npm install -g tidemark'

/**
 * The server where Tidemark is installed. Where it is not, one that only says so: a client warns at every start of a server that does
 * not start, Codex 0.169 also of one that lists no tools, and Gemini CLI 0.61 of one that has nothing, hence a prompt. It copies the members `id` and `protocolVersion` (which
 * `initialize` alone has) as they stand. Clients put variables of the environment in for `$name` and `${name}`: so names that nobody
 * uses, and no braces.
 */
export const SERVE = [
  'command -v tidemark >/dev/null 2>&1 && exec tidemark mcp; set -f; IFS=,{}; while read -r tm_line; do tm_id=',
  `tm_says='"error":{"code":-32601,"message":"Tidemark is not installed: ${INSTALL}"}';`,
  `for tm_part in $tm_line; do case $tm_part in *'"id":'*) tm_id=$tm_part;;`,
  `*'"protocolVersion":'*) tm_says='"result":{'$tm_part',"capabilities":{"prompts":{}},"serverInfo":{"name":"tidemark","version":"0"},"instructions":"Tidemark, the memory of this project, is not installed on this machine: ${INSTALL}"}';;`,
  `*'"tools/list"'*) tm_says='"result":{"tools":[]}';;`,
  `*'"prompts/list"'*) tm_says='"result":{"prompts":[{"name":"install","description":"${INSTALL}"}]}';; esac; done;`,
  `if [ "$tm_id" ]; then printf '{"jsonrpc":"2.0",%s,%s}\\n' "$tm_id" "$tm_says"; fi; done`,
].join(' ')

type Command = { command: string; args: string[] }

export const GUARDED: Command = { command: 'sh', args: ['-c', SERVE] }
export const BARE: Command = { command: 'tidemark', args: ['mcp'] }
export const SHARED: Command = process.platform === 'win32' ? BARE : GUARDED // Windows has no sh

/** Whether a command starts Tidemark, in whatever words: `tidemark mcp`, `node …/tidemark.js mcp`, `npx -y tidemark mcp`, `sh -c …`. */
export function startsTidemark(command: unknown, args: unknown): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])]
  return inShell(words) || words.some((word, n) => isTidemark(word) && words[n + 1] === 'mcp')
}

const inShell = ([, flag, script]: readonly unknown[]) => flag === '-c' && `${script}`.includes('tidemark mcp')

export const isLocalCommand = (command: unknown, args: unknown): boolean =>
  typeof command === 'string' &&
  isAbsolute(command) &&
  Array.isArray(args) &&
  args.length === 2 &&
  isTidemark(args[0]) &&
  args[1] === 'mcp'

export const localCommand = (ctx: ClientContext) => ({ command: ctx.launcher.node, args: [ctx.launcher.script, 'mcp'] })

/** Why a command of ours would not start, in words; undefined if it would. */
export function launchProblem(ctx: ClientContext, command: unknown, args: unknown): string | undefined {
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((w): w is string => typeof w === 'string')
  const first = inShell(words) ? 'tidemark' : words[0]
  const isPath = (word: string) => isAbsolute(word) || (word === first && /[\\/]/.test(word))
  const gone = words.find((word) => isPath(word) && !existsSync(resolve(ctx.root, word)))
  if (gone !== undefined) return `${gone} does not exist any more`
  if (first !== undefined && !isPath(first) && !findOnPath(first, ctx.env ?? process.env))
    return `the command ${first} is not on the PATH of this machine`
  return undefined
}
