import { join } from 'node:path'
import { gitRoot } from '../../../base/git.ts'
import { type Check, ok, wrong } from '../../hooks/doctor-line.ts'
import { checkHooks, checkPlugin, checkServer, type Judged, needed, type WiredHook } from '../common/check.ts'
import { claudeGlobal, claudeSettings } from '../common/homes.ts'
import { hookIn } from '../common/hook-command.ts'
import { hooksIn, inSeconds } from '../common/hook-parts.ts'
import { at } from '../common/json.ts'
import { includes, MCP_JSON, NAME, settingsIn, starts } from '../common/json-parts.ts'
import { below, mainWorkTree } from '../common/path.ts'
import { pluginIn } from '../common/plugins.ts'
import type { Client, ClientContext } from '../common/types.ts'

/** Our hooks that Claude Code finds, each once. Below the root of a repository it ignores the team's settings. */
function wiredHooks(ctx: ClientContext, claude: Client): WiredHook[] {
  const [local, team, users] = claudeSettings(ctx)
  const files = below(ctx) === undefined ? [local, team, users] : gitRoot(ctx.root) ? [local, users] : [users]
  const all = files.flatMap((file) => hooksIn({ client: 'claude', file }, claude.events, inSeconds))
  return [...new Map(all.toReversed().map((hook) => [`${hook.event} ${hook.command}`, hook])).values()].toReversed()
}

const machineOf = (ctx: ClientContext) =>
  at(settingsIn({ file: claudeGlobal(ctx) }), 'projects', mainWorkTree(ctx.root))

function checkServers(ctx: ClientContext, claude: Client): Check[] {
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

export function checkClaude(ctx: ClientContext, claude: Client): Judged {
  const plugin = pluginIn(ctx, 'claude')
  const servers = plugin ? [] : checkServers(ctx, claude)
  if (servers[0]?.state === 'off') return servers
  const wired = wiredHooks(ctx, claude)
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
