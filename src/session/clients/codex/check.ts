import { join } from 'node:path'
import { realPath } from '../../../base/files.ts'
import { gitRoot } from '../../../base/git.ts'
import { type Check, ok, wrong } from '../../hooks/doctor-line.ts'
import { checkHooks, checkPlugin, checkServer, type Judged, needed } from '../common/check.ts'
import { codexHome } from '../common/homes.ts'
import { hooksIn, inSeconds } from '../common/hook-parts.ts'
import { at } from '../common/json.ts'
import { NAME, starts } from '../common/json-parts.ts'
import { mainWorkTree } from '../common/path.ts'
import { pluginIn } from '../common/plugins.ts'
import { tomlIn } from '../common/toml.ts'
import type { Client, ClientContext } from '../common/types.ts'

export const sharedFile = (ctx: ClientContext) => join(ctx.root, '.codex', 'config.toml')
export const homeFile = (ctx: ClientContext) => join(codexHome(ctx), 'config.toml')
const serverIn = (file: string) => ({ file, entry: at(tomlIn(file), 'mcp_servers', NAME) })

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

function checkServers(ctx: ClientContext, codex: Client, trusted: boolean): [Check, ...Judged] {
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

export function checkCodex(ctx: ClientContext, codex: Client): Judged {
  const trusted = isTrusted(ctx)
  const plugin = pluginIn(ctx, 'codex')
  const servers = plugin ? [] : checkServers(ctx, codex, trusted)
  const [inProject = [], inHome = []] = [join(ctx.root, '.codex'), codexHome(ctx)].map((dir) =>
    hooksIn({ client: 'codex', file: join(dir, 'hooks.json') }, codex.events, inSeconds),
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
