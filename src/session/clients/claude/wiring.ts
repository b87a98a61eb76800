import { existsSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { gitRoot, workTreeOf } from '../../../base/git.ts'
import { PROJECT_DIR } from '../../../engine/store/project.ts'
import { type Check, ok, wrong } from '../../hooks/doctor-line.ts'
import { checkHooks, checkPlugin, checkServer, guarded, type Judged, needed, type WiredHook } from '../common/check.ts'
import { isLocalCommand, launchProblem, localCommand } from '../common/command.ts'
import { readText } from '../common/files.ts'
import { claudeGlobal, claudeSettings, configDir } from '../common/homes.ts'
import { hookIn, isLocalHook, listened, localHook, OURS, sharedHook } from '../common/hook-command.ts'
import { hookParts, hooksIn, inSeconds } from '../common/hook-parts.ts'
import { entryOf } from '../common/journal.ts'
import { at } from '../common/json.ts'
import {
  includes, isElsewhere, type JsonFile, jsonPart, jsonTarget, MCP_JSON, mcpJsonEntry, NAME, serverPart, settingsIn,
  sharedServerPart, starts,
} from '../common/json-parts.ts' // biome-ignore format: a list
import { below, mainWorkTree, seen } from '../common/path.ts'
import { planPlugin, pluginIn } from '../common/plugins.ts'
import { aloneHere, type Part, plug, type Target, unplug, WHOLE } from '../common/target.ts'
import { type Client, type ClientContext, READ_TOOLS, type WiringChange } from '../common/types.ts'
import { claude as dialect } from './dialect.ts'

const WRITES = 'Edit|Write|MultiEdit|NotebookEdit|Bash'
const TOOLS = `^(${WRITES}|${OURS})$`

const NAMES = [
  'SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PreCompact', 'Stop', 'SubagentStart', 'SubagentStop', 'SessionEnd',
] // biome-ignore format: a list to read at a glance

const EVENTS = listened(dialect, NAMES, {
  PreToolUse: { matcher: TOOLS },
  // what was understood of a file is told when it is read
  PostToolUse: { matcher: `^(${WRITES}|Read|${OURS})$`, former: { matcher: TOOLS } },
  PostToolUseFailure: { matcher: TOOLS },
  // at `/compact` the command would be printed before the person; the start after it does the same
  PreCompact: { matcher: 'auto', former: { matcher: undefined } },
})

const client = 'claude'

const ofTeam = (file: string): JsonFile => ({ client, file, scope: 'committed' })
const ofMachine = (file: string): JsonFile => ({ client, file, scope: 'local' })
const settingsFile = (ctx: ClientContext) => ofTeam(join(ctx.root, '.claude', 'settings.json'))
const localFile = (ctx: ClientContext) => ofMachine(join(ctx.root, '.claude', 'settings.local.json'))
const globalFile = (ctx: ClientContext) => ofMachine(claudeGlobal(ctx))
const sharedFile = (ctx: ClientContext) => ofTeam(join(ctx.root, MCP_JSON))
const shared = (ctx: ClientContext) => {
  const f = sharedFile(ctx)
  return jsonTarget(f, [sharedServerPart(f, ['mcpServers'], mcpJsonEntry)])
}

const PLACE = 'server at '

/** The server in Claude Code's own file, where a project is called by the path of its main work tree. */
function placed(ctx: ClientContext, place: string): Part {
  const f = globalFile(ctx)
  const value = { type: 'stdio', ...localCommand(ctx) }
  const isStale = (entry: unknown) => {
    const { command, args, ...rest } = entry as Record<string, unknown>
    // `env` and the like are the user's words, unless they are the empty ones that Claude Code puts in itself
    const plain = isDeepStrictEqual({ env: {}, ...rest }, { type: 'stdio', env: {} })
    return plain && (isLocalCommand(command, args) || isElsewhere(entry, value))
  }
  return { ...serverPart(f, ['projects', place, 'mcpServers'], value, isStale, `${PLACE}${place}`), once: 'server' }
}

/** The paths under which the project was wired before it moved. One that was copied is still a project at the first. */
const formerPlaces = (ctx: ClientContext): string[] =>
  (entryOf(ctx.root, globalFile(ctx).file)?.steps ?? [])
    .flatMap(({ part }) => (part.startsWith(PLACE) ? [part.slice(PLACE.length)] : []))
    .filter((place) => place !== mainWorkTree(ctx.root) && !existsSync(join(place, PROJECT_DIR, 'config.json')))

const local = (ctx: ClientContext) =>
  jsonTarget(
    globalFile(ctx),
    [mainWorkTree(ctx.root), ...formerPlaces(ctx)].map((place) => placed(ctx, place)),
  )

/** Hooks that all of the team have: in the project's settings, which worktrees share, and silent where tidemark is not installed. */
const settings = (ctx: ClientContext) => {
  const f = settingsFile(ctx)
  return jsonTarget(f, hookParts(f, EVENTS, inSeconds, undefined))
}

/** A status line shows how full the context is, and tells Tidemark: no hook is told. */
function statusLine(ctx: ClientContext, f: JsonFile): Part {
  const event = 'status-line'
  const command = ctx.launcher.onPath ? sharedHook(client, event) : localHook(ctx, client, event)
  return jsonPart(f, 'status-line', [], { key: 'statusLine', value: { type: 'command', command } }, (all) => {
    const line = at(all, 'statusLine')
    if (line === undefined) return 'absent'
    const words = at(line, 'command')
    if (hookIn(words)?.event !== event) return 'yours'
    if (isDeepStrictEqual(line, { type: 'command', command })) return 'ours'
    const ours = isLocalHook(words as string) || words === sharedHook(client, event)
    return ours && Object.keys(line as object).length === 2 ? 'stale' : 'hand-made'
  })
}

/** An item of ours in a list of settings; the user may have written the very same. */
const itemPart = (f: JsonFile, name: string, path: string[], item: string): Part => ({
  ...jsonPart(f, name, path, { item }, (all) => {
    const list = at(all, ...path)
    return Array.isArray(list) && list.includes(item) ? 'ours' : 'absent'
  }),
  mayBeTheirs: true,
})

/** What is this machine's alone. Below the root of a repository Claude Code 2.1.330 reads this file only. */
const machine = (ctx: ClientContext) => {
  const f = localFile(ctx)
  const approval = itemPart(f, 'approval', ['enabledMcpjsonServers'], NAME)
  const hooks = hookParts(f, EVENTS, inSeconds, ctx.launcher.onPath ? undefined : ctx)
  return jsonTarget(f, [approval, ...allowed(f), statusLine(ctx, f), ...hooks])
}

const ALLOW = ['permissions', 'allow']
const RULE = 'mcp__tidemark__'

const allowed = (f: JsonFile): Part[] =>
  [...READ_TOOLS, 'act'].map((tool) => itemPart(f, `allow.${tool}`, ALLOW, RULE + tool))

function allowsHere(ctx: ClientContext): string[] {
  const now = at(settingsIn(localFile(ctx)), ...ALLOW)
  const there: unknown[] = Array.isArray(now) ? now : []
  return [...READ_TOOLS, 'act'].filter((tool) => ctx.allow?.includes(tool) || there.includes(RULE + tool))
}

/** The settings with a status line that is not the one we wire here; Claude Code shows one only, and theirs stays. */
function ownStatusLine(ctx: ClientContext): string | undefined {
  const { file } = localFile(ctx)
  if (statusLine(ctx, localFile(ctx)).state(readText(file) ?? '') === 'yours') return file
  const elsewhere = [settingsFile(ctx).file, join(configDir(ctx), 'settings.json')]
  return elsewhere.find((place) => at(settingsIn({ file: place }), 'statusLine') !== undefined)
}

function wireMachine(ctx: ClientContext): WiringChange {
  const target = machine(ctx)
  const now = settingsIn(localFile(ctx))
  const switchedOff = includes(now.disabledMcpjsonServers)
  const approves = now.enableAllProjectMcpServers === true
  const own = ownStatusLine(ctx)
  const allows = allowsHere(ctx)
  const names = target.parts.map((part) => part.name)
  const isWanted = (name: string) => {
    if (name === 'approval') return includes(now.enabledMcpjsonServers) || !(ctx.personal || switchedOff || approves)
    if (name === 'status-line') return own === undefined
    return name.startsWith('hooks.') || allows.some((tool) => name === `allow.${tool}`)
  }
  const approval = switchedOff
    ? 'it switches the server off (disabledMcpjsonServers), which is left as it is'
    : approves
      ? 'it approves every server of the project already'
      : 'approves that server on this machine, which Claude Code honours once the folder is trusted'
  const why = [
    !ctx.personal && approval,
    allows.length > 0 && `lets it run ${allows.join(', ')} without asking`,
    own === undefined
      ? 'a status line with the context used'
      : `the status line in ${own} is yours and stays (\`tidemark hook claude status-line --chain "COMMAND"\` shows yours and ours)`,
    ctx.launcher.onPath
      ? 'the hooks, since below the root Claude Code reads no other file'
      : 'hooks with full paths, for tidemark is not on the PATH here',
  ]
  return plug(ctx, target, why.filter((clause) => clause).join('; '), names.filter(isWanted))
}

function wireLocal(ctx: ClientContext): WiringChange[] {
  const target = local(ctx)
  const alone = aloneHere(ctx)
  if (alone) {
    const why = `${alone}, so this machine gets an entry with full paths, which wins over .mcp.json`
    return [plug(ctx, target, why, [target.parts[0]!.name])]
  }
  const entry = at(settingsIn(globalFile(ctx)), 'projects', mainWorkTree(ctx.root), 'mcpServers', NAME)
  const broken = starts(entry) && launchProblem(ctx, at(entry, 'command'), at(entry, 'args'))
  return broken ? unplug(ctx, target, `tidemark is on the PATH now, and the old entry hides that: ${broken}`) : []
}

/** Claude Code ignores the settings of this machine where it makes them itself; git's own list is as little shared. */
function ignores(ctx: ClientContext): Target[] {
  const git = workTreeOf(ctx.root)
  if (!git) return []
  const line = `/${relative(git.top, localFile(ctx).file).split(sep).join('/')}`
  const lines = (text: string) => text.split('\n')
  const part: Part = {
    name: 'ignore',
    state: (text) => (lines(text).includes(line) ? 'ours' : 'absent'),
    insert: (text) => ({ text: `${text}${/[^\n]$/.test(text) ? '\n' : ''}${line}\n`, undo: WHOLE }),
    remove: (text) => lines(text).toSpliced(lines(text).lastIndexOf(line), 1).join('\n'),
    mayBeTheirs: true,
  }
  const isEmpty = (text: string) => text.trim() === ''
  return [{ client, file: join(git.common, 'info', 'exclude'), scope: 'local', parts: [part], isEmpty }]
}

/** Our hooks that Claude Code finds, each once. Below the root of a repository it ignores the team's settings. */
function wiredHooks(ctx: ClientContext): WiredHook[] {
  const [local, team, users] = claudeSettings(ctx)
  const files = below(ctx) === undefined ? [local, team, users] : gitRoot(ctx.root) ? [local, users] : [users]
  const all = files.flatMap((file) => hooksIn({ client, file }, claude.events, inSeconds))
  return [...new Map(all.toReversed().map((hook) => [`${hook.event} ${hook.command}`, hook])).values()].toReversed()
}

const machineOf = (ctx: ClientContext) =>
  at(settingsIn({ file: claudeGlobal(ctx) }), 'projects', mainWorkTree(ctx.root))

function checkServers(ctx: ClientContext): Check[] {
  const entry = at(settingsIn({ file: join(ctx.root, MCP_JSON) }), 'mcpServers', NAME)
  const own = at(machineOf(ctx), 'mcpServers', NAME)
  const used = own === undefined ? { file: MCP_JSON, entry } : { file: claudeGlobal(ctx), entry: own }
  const found = used.entry === undefined ? undefined : used
  const server = checkServer(ctx, claude, found, `${MCP_JSON} has no entry tidemark`)
  return [server, ...(own === undefined && server.state !== 'off' && starts(entry) ? [checkApproval(ctx)] : [])]
}

function checkApproval(ctx: ClientContext): Check {
  const id = 'claude.approval'
  const [inLocal, inProject, users] = claudeSettings(ctx).map((file) => settingsIn({ file }))
  const machine = machineOf(ctx)
  const project = [inLocal, inProject]
  const approves = (s: unknown) =>
    at(s, 'enableAllProjectMcpServers') === true || includes(at(s, 'enabledMcpjsonServers'))
  // the user's own settings count everywhere; those in the project only once it is trusted (seen in runs of 2.1.330)
  const trusted = at(machine, 'hasTrustDialogAccepted') === true
  if ([...project, users, machine].some((s) => includes(at(s, 'disabledMcpjsonServers')))) {
    const why = 'the server is switched off in Claude Code (disabledMcpjsonServers)'
    return wrong(id, why, 'switch it on with /mcp in `claude`')
  }
  if (approves(users) || (trusted && [...project, machine].some(approves)))
    return ok(id, 'the server is approved in Claude Code')
  if ([...project, machine].some(approves)) {
    const why =
      'the server is approved, but Claude Code does not trust this folder yet and shows it as "Pending approval"'
    return wrong(id, why, 'start `claude` here once and trust the folder')
  }
  const why = 'the server is not approved on this machine: Claude Code shows it as "Pending approval"'
  return wrong(id, why, 'run `tidemark init`, or say yes when `claude` asks')
}

function checkStatusLine(ctx: ClientContext): Check[] {
  const shown = claudeSettings(ctx)
    .map((file) => ({ file, command: at(settingsIn({ file }), 'statusLine', 'command') }))
    .find(({ command }) => command !== undefined)
  if (shown === undefined || hookIn(shown.command)?.event === 'status-line' || `${shown.command}`.includes('tidemark'))
    return []
  const text = `the status line in ${shown.file} is your own: Tidemark reads the context used from the transcript instead`
  return [ok('claude.status-line', text)]
}

const SWITCH_ON = 'remove that line: without hooks nothing is told or kept'

function check(ctx: ClientContext): Judged {
  const plugin = pluginIn(ctx, client)
  const servers = plugin ? [] : checkServers(ctx)
  if (servers[0]?.state === 'off') return servers
  const wired = wiredHooks(ctx)
  const off = claudeSettings(ctx).find((file) => settingsIn({ file }).disableAllHooks === true)
  return [
    ...servers,
    off !== undefined && wrong('claude.switch', `hooks are switched off in ${off} (disableAllHooks)`, SWITCH_ON),
    ...(plugin
      ? checkPlugin(claude, plugin, wired, 'plugin', 'claude plugin disable tidemark')
      : needed(checkHooks(ctx, claude, wired))),
    ...checkStatusLine(ctx),
  ]
}

/** Claude Code, project scope: `.mcp.json` and hooks for the team, approval and full paths for this machine. */
export const claude: Client = {
  name: client,
  events: EVENTS,
  detect(ctx) {
    const [dir, page] = [join(ctx.root, '.claude'), join(ctx.root, 'CLAUDE.md')]
    return seen(ctx, client, [dir, sharedFile(ctx).file, page, configDir(ctx), claudeGlobal(ctx)], 'claude')
  },
  files: (ctx) => [
    ...ignores(ctx).map((t) => t.file),
    ...[sharedFile(ctx), settingsFile(ctx), localFile(ctx), globalFile(ctx)].map((f) => f.file),
    join(configDir(ctx), 'settings.json'),
  ],
  wire(ctx) {
    const plugin = pluginIn(ctx, client)
    if (plugin) return planPlugin(ctx, client, plugin, [shared(ctx), settings(ctx), machine(ctx), local(ctx)])
    const why = 'the file of the project that Claude Code shares with the team; it holds no path of this machine'
    const server = plug(ctx, shared(ctx), why)
    if (shared(ctx).parts[0]!.state(readText(sharedFile(ctx).file) ?? '') === 'yours') return [server]
    const hooks = () => plug(ctx, settings(ctx), 'hooks for the team; where tidemark is not installed they do nothing')
    return [
      ...(ctx.personal ? [] : [server]),
      ...(aloneHere(ctx) ? [] : [hooks()]),
      wireMachine(ctx),
      ...ignores(ctx).map((t) => plug(ctx, t, 'keeps .claude/settings.local.json out of git on this machine')),
      ...wireLocal(ctx),
    ]
  },
  unwire(ctx) {
    const server = unplug(ctx, shared(ctx), 'takes out the server')
    // the approval belongs to the server of that name: if that is the user's own, so is the approval
    const theirs = server.some((change) => change.action === 'none') && !entryOf(ctx.root, localFile(ctx).file)
    return [
      ...server,
      ...unplug(ctx, settings(ctx), 'takes out the hooks'),
      ...(theirs ? [] : unplug(ctx, machine(ctx), 'takes back what was for this machine')),
      ...unplug(ctx, local(ctx), 'takes out the entry of this machine'),
      ...ignores(ctx)
        .filter((t) => entryOf(ctx.root, t.file)) // else the line is the user's
        .flatMap((t) => unplug(ctx, t, 'takes out the line')),
    ]
  },
  check: (ctx) => guarded(client, () => check(ctx)),
}
