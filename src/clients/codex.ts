import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { UserError } from '../errors.ts'
import { gitRoot } from '../store/project.ts'
import { isLocalCommand, launchProblem, localCommand, startsTidemark } from './command.ts'
import { readText } from './files.ts'
import { entryOf } from './journal.ts'
import { mainWorkTree } from './path.ts'
import { plug, type Target, unplug } from './target.ts'
import { appendBlock, isMarked, readToml, removeBlock, tomlAt } from './toml-edit.ts'
import type { Client, ClientContext, Finding, WiringChange } from './types.ts'

const client = 'codex'
const TABLE = ['mcp_servers', 'tidemark']

const codexHome = (ctx: ClientContext) => (ctx.env ?? process.env).CODEX_HOME || join(ctx.home, '.codex')
const sharedFile = (ctx: ClientContext) => join(ctx.root, '.codex', 'config.toml')
const localFile = (ctx: ClientContext) => join(codexHome(ctx), 'config.toml')

const tomlOf = (file: string) => readToml(readText(file) ?? '', file)
const tableIn = (file: string) => tomlAt(tomlOf(file), ...TABLE) as Record<string, unknown> | undefined

const target = (file: string, scope: Target['scope'], command: string, args: string[]): Target => ({
  client,
  file,
  scope,
  state(text) {
    const table = tomlAt(readToml(text, file), ...TABLE) as Record<string, unknown> | undefined
    if (table === undefined) return 'absent'
    if (!startsTidemark(table.command, table.args)) return 'yours'
    if (!isMarked(text) || Object.keys(table).length !== 2) return 'hand-made'
    if (isDeepStrictEqual([table.command, table.args], [command, args])) return 'ours'
    return scope === 'local' && isLocalCommand(table.command, table.args) ? 'stale' : 'hand-made'
  },
  insert(text) {
    const servers = readToml(text ?? '', file).find((s) => s.kind === 'pair' && s.path.join('.') === 'mcp_servers')
    if (servers)
      throw new UserError(
        'cannot-wire',
        `${file} has mcp_servers as an inline table, to which nothing can be appended`,
        'write it as [mcp_servers.<name>] tables, or leave Codex out with --client claude; nothing was changed',
      )
    // a JSON string of these is a TOML string too
    const lines = [
      `[${TABLE.join('.')}]`,
      `command = ${JSON.stringify(command)}`,
      `args = [${args.map((a) => JSON.stringify(a)).join(', ')}]`,
    ]
    return { text: appendBlock(text ?? '', lines), undo: { kept: 0, interior: null } }
  },
  remove(text, undo) {
    if (!text.includes('tidemark')) return text
    const state = this.state(text)
    return state === 'yours' || (state === 'hand-made' && !undo) ? text : removeBlock(text, TABLE, file)
  },
  isEmpty: (text) => text.replace('\uFEFF', '').trim() === '',
})

const shared = (ctx: ClientContext) => target(sharedFile(ctx), 'committed', 'tidemark', ['mcp'])
const local = (ctx: ClientContext) => {
  const { command, args } = localCommand(ctx)
  return target(localFile(ctx), 'local', command, args)
}

/**
 * In a trusted project Codex 0.169 takes the project's table before the one in its home (seen in a run), so a bare command that
 * is not on the PATH could not be mended from there: on such a machine only the home gets an entry.
 */
function wire(ctx: ClientContext): WiringChange[] {
  if (ctx.launcher.onPath || tableIn(sharedFile(ctx)) !== undefined)
    return [
      plug(
        ctx,
        shared(ctx),
        'the file of the project that Codex shares with the team; it holds no path of this machine',
      ),
      ...dropBroken(ctx),
    ]
  return [
    plug(
      ctx,
      local(ctx),
      `tidemark is not on the PATH here, so this machine gets an entry with full paths; ${sharedFile(ctx)} would win over it and is left out`,
    ),
  ]
}

function dropBroken(ctx: ClientContext): WiringChange[] {
  const table = tableIn(localFile(ctx))
  const ours = table !== undefined && startsTidemark(table.command, table.args)
  const broken = ours ? launchProblem(ctx, table.command, table.args) : undefined
  return broken ? unplug(ctx, local(ctx), `an old entry that starts nothing: ${broken}`) : []
}

/** The home serves every project of this machine: its entry goes only with the project that made it. */
function unplugLocal(ctx: ClientContext): WiringChange[] {
  const changes = unplug(ctx, local(ctx), 'takes out the entry of this machine')
  if (entryOf(ctx.root, localFile(ctx))) return changes
  const why = 'another project of this machine made its entry; `codex mcp remove tidemark` takes it out for all'
  return changes.map((change) => ({ ...change, action: 'none', after: change.before, why }))
}

function isTrusted(ctx: ClientContext): boolean {
  const config = tomlOf(localFile(ctx))
  const real = (path: string) => (existsSync(path) ? realpathSync(path) : path)
  // a trusted main work tree covers its folders and its worktrees (seen in runs)
  const top = gitRoot(ctx.root) ?? ctx.root
  const places = new Set([ctx.root, real(ctx.root), top, real(top), mainWorkTree(ctx.root)])
  return [...places].some((place) => tomlAt(config, 'projects', place, 'trust_level') === 'trusted')
}

function check(ctx: ClientContext): Finding[] {
  const bad = (message: string, hint: string): Finding => ({ client, ok: false, message, hint })
  const project = tableIn(sharedFile(ctx))
  const home = tableIn(localFile(ctx))
  const trusted = isTrusted(ctx)
  const [used, where] =
    project !== undefined && (trusted || home === undefined) ? [project, sharedFile(ctx)] : [home, localFile(ctx)]
  if (used === undefined)
    return [
      bad(`Codex is not wired: ${sharedFile(ctx)} has no [mcp_servers.tidemark]`, 'run `tidemark init --client codex`'),
    ]
  if (!startsTidemark(used.command, used.args))
    return [
      bad(
        `${where} has a server called tidemark that starts something else`,
        'rename or remove it, then run `tidemark init`',
      ),
    ]
  const problem = launchProblem(ctx, used.command, used.args)
  const findings: Finding[] = [
    problem === undefined
      ? { client, ok: true, message: `Codex starts tidemark from ${where}` }
      : bad(
          `${where}: ${problem}`,
          'install it with `npm install -g tidemark`, or run `tidemark init` again from where it lies',
        ),
  ]
  if (used.enabled === false)
    findings.push(bad(`the server is switched off in ${where} (enabled = false)`, 'remove that line'))
  if (used === project && !trusted)
    findings.push(
      bad(
        "Codex reads a project's .codex/config.toml only in trusted projects, and this one is not",
        `start \`codex\` here and trust the folder, or add [projects.${JSON.stringify(ctx.root)}] trust_level = "trusted" to ${localFile(ctx)}`,
      ),
    )
  return findings
}

/** Codex: the project's `.codex/config.toml`, or where the bare command does not start, the one in its home. */
export const codex: Client = {
  name: client,
  title: 'Codex',
  detect(ctx) {
    const places = [join(ctx.root, '.codex'), join(ctx.root, 'AGENTS.md'), codexHome(ctx)]
    const found = places.find((place) => existsSync(place))
    return found ? { found: true, why: `${found} is there` } : { found: false, why: 'no sign of Codex' }
  },
  wire,
  unwire: (ctx) => [...unplug(ctx, shared(ctx), 'takes out the server'), ...unplugLocal(ctx)],
  check(ctx) {
    try {
      return check(ctx)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      return [{ client, ok: false, message: error.message, hint: error.hint }]
    }
  },
}
