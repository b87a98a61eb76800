import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { attempt, UserError } from '../../../base/errors.ts'
import { realPath } from '../../../base/files.ts'
import { gitRoot } from '../../../base/git.ts'
import { type Check, ok, wrong } from '../../hooks/doctor-line.ts'
import { checkHooks, checkPlugin, checkServer, guarded, type Judged, needed } from '../common/check.ts'
import { BARE, isLocalCommand, launchProblem, localCommand, SHARED, startsTidemark } from '../common/command.ts'
import { codexHome } from '../common/homes.ts'
import { listened, OURS } from '../common/hook-command.ts'
import { hookParts, hooksIn, inSeconds } from '../common/hook-parts.ts'
import { at } from '../common/json.ts'
import { type JsonFile, jsonTarget, NAME, starts } from '../common/json-parts.ts'
import { mainWorkTree, seen } from '../common/path.ts'
import { planPlugin, pluginIn } from '../common/plugins.ts'
import { aloneHere, type Part, plug, type Target, teamHas, unplug, unplugHome, WHOLE } from '../common/target.ts'
import { appendBlock, isMarked, readToml, removeBlock, tomlIn } from '../common/toml.ts'
import type { Client, ClientContext, WiringChange } from '../common/types.ts'
import { codex as dialect } from './dialect.ts'

const TOOLS = `^(apply_patch|Edit|Write|Bash|${OURS})$`

const NAMES = [
  'SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PreCompact', 'Stop', 'SubagentStart', 'SubagentStop', 'SessionEnd',
] // biome-ignore format: a list to read at a glance

const EVENTS = listened(dialect, NAMES, { PreToolUse: { matcher: TOOLS }, PostToolUse: { matcher: TOOLS } })

const client = 'codex'
const TABLE = ['mcp_servers', NAME]

const sharedFile = (ctx: ClientContext) => join(ctx.root, '.codex', 'config.toml')
const homeFile = (ctx: ClientContext) => join(codexHome(ctx), 'config.toml')

const tableIn = (file: string) => at(tomlIn(file), ...TABLE) as Record<string, unknown> | undefined

const serverPart = (file: string, scope: Target['scope'], command: string, args: string[]): Part => ({
  name: 'server',
  state(text) {
    if (!text.includes('tidemark')) return 'absent' // also where it is broken
    const table = at(readToml(text, file), ...TABLE) as Record<string, unknown> | undefined
    if (table === undefined) return 'absent'
    if (!startsTidemark(table.command, table.args)) return 'yours'
    if (!isMarked(text) || Object.keys(table).length !== 2) return 'hand-made'
    if (isDeepStrictEqual([table.command, table.args], [command, args])) return 'ours'
    const known = scope === 'local' ? isLocalCommand(table.command, table.args) : isDeepStrictEqual({ ...table }, BARE)
    return known ? 'stale' : 'hand-made'
  },
  insert(text) {
    readToml(text, file)
    // a JSON string of these is a TOML string too
    const words = `args = [${args.map((a) => JSON.stringify(a)).join(', ')}]`
    const made = appendBlock(text, [`[${TABLE.join('.')}]`, `command = ${JSON.stringify(command)}`, words])
    if (attempt(() => readToml(made, file)) === undefined) {
      const message = `${file} has mcp_servers as an inline table, to which nothing can be appended`
      const hint =
        'write it as [mcp_servers.<name>] tables, or leave Codex out with --client claude; nothing was changed'
      throw new UserError('cannot-wire', message, hint)
    }
    return { text: made, undo: WHOLE }
  },
  remove(text, undo) {
    if (!text.includes('tidemark')) return text
    const state = this.state(text)
    return state === 'yours' || (state === 'hand-made' && !undo) ? text : removeBlock(text, TABLE, file)
  },
})

const tomlTarget = (file: string, scope: Target['scope'], command: string, args: string[]): Target => ({
  client,
  file,
  scope,
  parts: [serverPart(file, scope, command, args)],
  isEmpty: (text) => text.replace('\uFEFF', '').trim() === '',
})
const shared = (ctx: ClientContext) => tomlTarget(sharedFile(ctx), 'committed', SHARED.command, SHARED.args)
const local = (ctx: ClientContext) => {
  const { command, args } = localCommand(ctx)
  return tomlTarget(homeFile(ctx), 'local', command, args)
}

/** Codex reads `hooks.json` beside each of its settings, and runs the hooks of all. */
const hooksBeside = (settings: string, scope: Target['scope'], machine?: ClientContext) => {
  const f: JsonFile = { client, file: join(dirname(settings), 'hooks.json'), scope }
  return jsonTarget(f, hookParts(f, EVENTS, inSeconds, machine))
}
const sharedHooks = (ctx: ClientContext) => hooksBeside(sharedFile(ctx), 'committed')
const localHooks = (ctx: ClientContext) => hooksBeside(homeFile(ctx), 'local', ctx)

/** Codex 0.169 prefers the project's table to the one in its home, so a bare command must start (seen in a run). */
function wireServer(ctx: ClientContext): WiringChange[] {
  const alone = aloneHere(ctx)
  if (!alone || tableIn(sharedFile(ctx)) !== undefined) {
    const why = 'the file of the project that Codex shares with the team; it holds no path of this machine'
    return [plug(ctx, shared(ctx), why), ...dropBroken(ctx)]
  }
  const why = `${alone}, so this machine gets an entry with full paths; ${sharedFile(ctx)} would win over it and is left out`
  return [plug(ctx, local(ctx), why)]
}

function wireHooks(ctx: ClientContext): WiringChange[] {
  if (aloneHere(ctx) && !(ctx.launcher.onPath && teamHas(sharedHooks(ctx))))
    return [plug(ctx, localHooks(ctx), 'hooks with full paths; Codex asks once in /hooks whether they may run')]
  return [
    plug(ctx, sharedHooks(ctx), 'hooks for the team; Codex asks each person once in /hooks whether they may run'),
    ...unplugHome(ctx, localHooks(ctx), 'tidemark is on the PATH now: the project has the hooks').filter(
      (change) => change.action !== 'none',
    ),
  ]
}

function dropBroken(ctx: ClientContext): WiringChange[] {
  const table = tableIn(homeFile(ctx))
  const ours = table !== undefined && startsTidemark(table.command, table.args)
  const broken = ours ? launchProblem(ctx, table.command, table.args) : undefined
  return broken ? unplug(ctx, local(ctx), `an old entry that starts nothing: ${broken}`) : []
}

const targets = (ctx: ClientContext) => [shared(ctx), sharedHooks(ctx), local(ctx), localHooks(ctx)]

const serverIn = (file: string) => ({ file, entry: tableIn(file) })

function isTrusted(ctx: ClientContext): boolean {
  const projects = at(tomlIn(homeFile(ctx)), 'projects')
  // a trusted main work tree covers its folders and its worktrees (seen in runs)
  const top = gitRoot(ctx.root) ?? ctx.root
  const places = [ctx.root, realPath(ctx.root), top, realPath(top), mainWorkTree(ctx.root)]
  return places.some((place) => at(projects, place, 'trust_level') === 'trusted')
}

const untrusted = wrong(
  'codex.trust',
  "Codex reads a project's .codex/ only in trusted projects, and this one is not",
  'start `codex` here and trust the folder',
)

function checkServers(ctx: ClientContext, trusted: boolean): [Check, ...Judged] {
  const project = serverIn(sharedFile(ctx))
  const home = serverIn(homeFile(ctx))
  const used = project.entry !== undefined && (trusted || home.entry === undefined) ? project : home
  const found = used.entry === undefined ? undefined : used
  const server = checkServer(ctx, codex, found, `${project.file} has no [mcp_servers.tidemark]`)
  if (!starts(used.entry)) return [server]
  const off = wrong('codex.switch', `the server is switched off in ${used.file} (enabled = false)`, 'remove that line')
  return [server, at(used.entry, 'enabled') === false && off, used === project && !trusted && untrusted]
}

/** Codex runs a hook only after its person said yes to these very words in /hooks, and says nothing where not. */
function checkReview(ctx: ClientContext, sources: readonly string[]): Check {
  const reviewed = Object.keys(at(tomlIn(homeFile(ctx)), 'hooks', 'state') ?? {})
  if (reviewed.some((key) => sources.some((source) => key.startsWith(source))))
    return ok('codex.review', 'Codex was told in /hooks that the hooks may run')
  const why = 'Codex does not run the hooks until you have looked at them: it says nothing of it'
  return wrong('codex.review', why, 'start `codex` here, type /hooks, and trust those of tidemark')
}

function check(ctx: ClientContext): Judged {
  const trusted = isTrusted(ctx)
  const plugin = pluginIn(ctx, client)
  const servers = plugin ? [] : checkServers(ctx, trusted)
  const [inProject = [], inHome = []] = [join(ctx.root, '.codex'), codexHome(ctx)].map((dir) =>
    hooksIn({ client, file: join(dir, 'hooks.json') }, codex.events, inSeconds),
  )
  if (servers[0]?.state === 'off') return servers
  const wired = [...inProject, ...inHome]
  const sources = plugin ? [plugin.id] : [...new Set(wired.map((hook) => realPath(hook.file)))]
  const hooks = plugin
    ? checkPlugin(codex, plugin, wired, 'plugin', 'codex plugin remove tidemark')
    : needed(checkHooks(ctx, codex, wired))
  const isOff = at(tomlIn(homeFile(ctx)), 'features', 'hooks') === false
  const off = `hooks are switched off in ${homeFile(ctx)} ([features] hooks = false)`
  const needsTrust = !plugin && inProject.length > 0 && !trusted && serverIn(sharedFile(ctx)).entry === undefined
  return [
    ...servers,
    isOff && wrong('codex.hooks-switch', off, 'remove that line'),
    ...hooks,
    sources.length > 0 && checkReview(ctx, sources),
    needsTrust && untrusted,
  ]
}

export const codex: Client = {
  name: client,
  events: EVENTS,
  detect(ctx) {
    return seen(ctx, client, [join(ctx.root, '.codex'), join(ctx.root, 'AGENTS.md'), codexHome(ctx)], 'codex')
  },
  files: (ctx) => targets(ctx).map((t) => t.file),
  wire(ctx) {
    const plugin = pluginIn(ctx, client)
    return plugin ? planPlugin(ctx, client, plugin, targets(ctx)) : [...wireServer(ctx), ...wireHooks(ctx)]
  },
  unwire: (ctx) => [
    ...unplug(ctx, shared(ctx), 'takes out the server'),
    ...unplug(ctx, sharedHooks(ctx), 'takes out the hooks'),
    ...unplugHome(ctx, local(ctx), 'takes out the entry of this machine'),
    ...unplugHome(ctx, localHooks(ctx), 'takes out the hooks of this machine'),
  ],
  check: (ctx) => guarded(client, () => check(ctx)),
}
