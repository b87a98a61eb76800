import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { gitRoot } from '../../git.ts'
import { launchProblem, startsTidemark } from '../common/command.ts'
import { readText } from '../common/files.ts'
import { notWired } from '../common/finding.ts'
import { codexHome } from '../common/homes.ts'
import { hookFindings, type WiredHook } from '../common/hook-check.ts'
import { hooksIn, inSeconds } from '../common/hook-parts.ts'
import { at } from '../common/json.ts'
import { settingsIn } from '../common/json-parts.ts'
import { mainWorkTree } from '../common/path.ts'
import { type Plugin, pluginIn } from '../common/plugins.ts'
import { readToml } from '../common/toml.ts'
import type { ClientContext, Finding } from '../common/types.ts'
import { EVENTS } from './events.ts'

const client = 'codex'
const bad = (message: string, hint: string): Finding => ({ client, ok: false, message, hint })
const tomlOf = (file: string) => readToml(readText(file) ?? '', file)
const tableIn = (file: string) => at(tomlOf(file), 'mcp_servers', 'tidemark') as Record<string, unknown> | undefined

const sharedFile = (ctx: ClientContext) => join(ctx.root, '.codex', 'config.toml')
const homeFile = (ctx: ClientContext) => join(codexHome(ctx), 'config.toml')

function isTrusted(ctx: ClientContext): boolean {
  const config = tomlOf(homeFile(ctx))
  const real = (path: string) => (existsSync(path) ? realpathSync(path) : path)
  // a trusted main work tree covers its folders and its worktrees (seen in runs)
  const top = gitRoot(ctx.root) ?? ctx.root
  const places = new Set([ctx.root, real(ctx.root), top, real(top), mainWorkTree(ctx.root)])
  return [...places].some((place) => at(config, 'projects', place, 'trust_level') === 'trusted')
}

const UNTRUSTED: Finding = bad(
  "Codex reads a project's .codex/ only in trusted projects, and this one is not",
  'start `codex` here and trust the folder',
)

function serverFindings(ctx: ClientContext, trusted: boolean): Finding[] {
  const project = tableIn(sharedFile(ctx))
  const home = tableIn(homeFile(ctx))
  const [used, where] =
    project !== undefined && (trusted || home === undefined) ? [project, sharedFile(ctx)] : [home, homeFile(ctx)]
  if (used === undefined)
    return [notWired(client, `Codex is not wired: ${sharedFile(ctx)} has no [mcp_servers.tidemark]`)]
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
  if (used === project && !trusted) findings.push(UNTRUSTED)
  return findings
}

/** Codex runs a hook only after its person said yes to these very words in /hooks, and says nothing where not. */
function trustFinding(ctx: ClientContext, sources: readonly string[]): Finding[] {
  const state = at(tomlOf(homeFile(ctx)), 'hooks', 'state')
  const keys = typeof state === 'object' && state !== null ? Object.keys(state) : []
  const reviewed = keys.some((key) => sources.some((source) => key.startsWith(source)))
  if (reviewed) return [{ client, ok: true, message: 'Codex was told in /hooks that the hooks may run' }]
  return [
    bad(
      'Codex does not run the hooks until you have looked at them: it says nothing of it',
      'start `codex` here, type /hooks, and trust those of tidemark',
    ),
  ]
}

function hooksOf(ctx: ClientContext, trusted: boolean, plugin: Plugin | undefined): Finding[] {
  const read = (file: string): WiredHook[] =>
    hooksIn(EVENTS, inSeconds, settingsIn({ file })).map((h) => ({ ...h, file }))
  const inProject = read(join(ctx.root, '.codex', 'hooks.json'))
  const inHome = read(join(codexHome(ctx), 'hooks.json'))
  const off = at(tomlOf(homeFile(ctx)), 'features', 'hooks') === false
  const findings: Finding[] = off
    ? [bad(`hooks are switched off in ${homeFile(ctx)} ([features] hooks = false)`, 'remove that line')]
    : []
  if (plugin) {
    findings.push({ client, ok: true, message: `${plugin.id} is installed (${plugin.file})` })
    findings.push(...trustFinding(ctx, [plugin.id]))
    const both = [...inProject, ...inHome][0]
    if (both)
      findings.push(
        bad(
          `the plugin and hooks in ${both.file} are both there; the plugin's stay silent here`,
          'run `tidemark init` to take out what this machine wired, or `codex plugin remove tidemark`',
        ),
      )
    return findings
  }
  const wired = [...inProject, ...inHome]
  findings.push(...hookFindings(ctx, EVENTS, 'Codex', wired))
  if (wired.length > 0) findings.push(...trustFinding(ctx, [...new Set(wired.map((hook) => real(hook.file)))]))
  if (inProject.length > 0 && !trusted && tableIn(sharedFile(ctx)) === undefined) findings.push(UNTRUSTED)
  return findings
}

const real = (path: string) => (existsSync(path) ? realpathSync(path) : path)

/** What `doctor` says of Codex. */
export function codexFindings(ctx: ClientContext): Finding[] {
  const trusted = isTrusted(ctx)
  const plugin = pluginIn(ctx, client)
  const server = plugin ? [] : serverFindings(ctx, trusted)
  const hooks = hooksOf(ctx, trusted, plugin)
  // a client that is not wired at all is told of once
  return server.some((f) => f.wired === false) ? server : [...server, ...hooks]
}
