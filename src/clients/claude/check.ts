import { join } from 'node:path'
import { gitRoot } from '../../git.ts'
import { launchProblem } from '../common/command.ts'
import { notWired } from '../common/finding.ts'
import { claudeGlobal, configDir } from '../common/homes.ts'
import { hookFindings, type WiredHook } from '../common/hook-check.ts'
import { hookIn } from '../common/hook-command.ts'
import { hooksIn, inSeconds } from '../common/hook-parts.ts'
import { at } from '../common/json.ts'
import { includes, NAME, settingsIn, starts } from '../common/json-parts.ts'
import { below, mainWorkTree } from '../common/path.ts'
import { pluginIn } from '../common/plugins.ts'
import type { ClientContext, Finding } from '../common/types.ts'
import { EVENTS } from './events.ts'

const client = 'claude'
const bad = (message: string, hint: string): Finding => ({ client, ok: false, message, hint })

/** The settings files that Claude Code reads here. */
const settingsFiles = (ctx: ClientContext) => [
  join(ctx.root, '.claude', 'settings.local.json'),
  join(ctx.root, '.claude', 'settings.json'),
  join(configDir(ctx), 'settings.json'),
]

/**
 * Every hook of ours that Claude Code finds in settings here, each once. Below the root of a repository it reads the local
 * settings and not the team's; without git neither.
 */
function wiredHooks(ctx: ClientContext): WiredHook[] {
  const [local, team, users] = settingsFiles(ctx) as [string, string, string]
  const files = below(ctx) === undefined ? [local, team, users] : gitRoot(ctx.root) ? [local, users] : [users]
  const all = files.flatMap((file) => hooksIn(EVENTS, inSeconds, settingsIn({ file })).map((h) => ({ ...h, file })))
  return [...new Map(all.toReversed().map((hook) => [`${hook.event} ${hook.command}`, hook])).values()].toReversed()
}

function serverFindings(ctx: ClientContext): Finding[] {
  const shared = join(ctx.root, '.mcp.json')
  const entry = at(settingsIn({ file: shared }), 'mcpServers', NAME)
  const machine = at(settingsIn({ file: claudeGlobal(ctx) }), 'projects', mainWorkTree(ctx.root))
  const own = at(machine, 'mcpServers', NAME)
  if (entry === undefined && own === undefined)
    return [notWired(client, 'Claude Code is not wired: .mcp.json has no entry tidemark')]
  const [used, where] = own === undefined ? [entry, '.mcp.json'] : [own, claudeGlobal(ctx)]
  if (!starts(used))
    return [
      bad(
        `${where} has an entry called tidemark that starts something else`,
        'rename or remove it, then run `tidemark init`',
      ),
    ]

  const problem = launchProblem(ctx, at(used, 'command'), at(used, 'args'))
  const findings: Finding[] = [
    problem === undefined
      ? { client, ok: true, message: `Claude Code starts tidemark from ${where}` }
      : bad(
          `${where}: ${problem}`,
          'install it with `npm install -g tidemark`, or run `tidemark init` again from where it lies',
        ),
  ]
  // an entry of this machine needs no approval
  return own === undefined ? [...findings, approvalFinding(ctx, machine)] : findings
}

function approvalFinding(ctx: ClientContext, machine: unknown): Finding {
  const [inLocal, inProject, users] = settingsFiles(ctx).map((file) => settingsIn({ file }))
  const project = [inLocal, inProject]
  const approves = (s: unknown) =>
    at(s, 'enableAllProjectMcpServers') === true || includes(at(s, 'enabledMcpjsonServers'))
  const switchedOff = [...project, users, machine].some((s) => includes(at(s, 'disabledMcpjsonServers')))
  // the user's own settings count everywhere; those in the project only once it is trusted (seen in runs of 2.1.330)
  const trusted = at(machine, 'hasTrustDialogAccepted') === true
  if (switchedOff)
    return bad(
      'the server is switched off in Claude Code (disabledMcpjsonServers)',
      'switch it on with /mcp in `claude`',
    )
  if (approves(users) || (trusted && [...project, machine].some(approves)))
    return { client, ok: true, message: 'the server is approved in Claude Code' }
  if ([...project, machine].some(approves))
    return bad(
      'the server is approved, but Claude Code does not trust this folder yet and shows it as "Pending approval"',
      'start `claude` here once and trust the folder',
    )
  return bad(
    'the server is not approved on this machine: Claude Code shows it as "Pending approval"',
    'run `tidemark init`, or say yes when `claude` asks',
  )
}

function statusLineFinding(ctx: ClientContext): Finding[] {
  const shown = settingsFiles(ctx)
    .map((file) => ({ file, command: at(settingsIn({ file }), 'statusLine', 'command') }))
    .find(({ command }) => command !== undefined)
  if (shown === undefined || hookIn(shown.command)?.event === 'status-line' || `${shown.command}`.includes('tidemark'))
    return []
  return [
    {
      client,
      ok: true,
      message: `the status line in ${shown.file} is your own: Tidemark reads the context used from the transcript instead`,
    },
  ]
}

function hooksAndPlugin(ctx: ClientContext): Finding[] {
  const wired = wiredHooks(ctx)
  const plugin = pluginIn(ctx, client)
  const off = settingsFiles(ctx).find((file) => settingsIn({ file }).disableAllHooks === true)
  const findings: Finding[] = off
    ? [
        bad(
          `hooks are switched off in ${off} (disableAllHooks)`,
          'remove that line: without hooks nothing is told or kept',
        ),
      ]
    : []
  if (!plugin) return [...findings, ...hookFindings(ctx, EVENTS, 'Claude Code', wired)]
  findings.push({ client, ok: true, message: `${plugin.id} is installed (${plugin.file})` })
  if (wired.length > 0)
    findings.push(
      bad(
        `the plugin and hooks in ${wired[0]!.file} are both there; the plugin's stay silent here`,
        'run `tidemark init` to take out what this machine wired, or `claude plugin disable tidemark`',
      ),
    )
  return findings
}

/** Claude Code's hooks are read by VS Code as well; ours answer there in its own dialect, which is worth a word. */
function vsCodeFinding(ctx: ClientContext): Finding[] {
  if (
    wiredHooks(ctx).length === 0 ||
    settingsIn({ file: join(ctx.root, '.vscode', 'settings.json'), comments: true })['chat.hookFilesLocations'] !==
      undefined
  )
    return []
  return [
    {
      client,
      ok: true,
      message:
        'VS Code fires these hooks too (chat.hookFilesLocations): there they know its fields, but matchers do not count and a prompt takes no context',
    },
  ]
}

/** What `doctor` says of Claude Code. */
export function claudeFindings(ctx: ClientContext): Finding[] {
  const plugin = pluginIn(ctx, client)
  const server = plugin ? [] : serverFindings(ctx)
  if (server.some((f) => f.wired === false)) return server // told of once
  return [...server, ...hooksAndPlugin(ctx), ...statusLineFinding(ctx), ...vsCodeFinding(ctx)]
}
