import { join } from 'node:path'
import { localCommand } from '../common/command.ts'
import { readText } from '../common/files.ts'
import { guarded } from '../common/finding.ts'
import { geminiHome } from '../common/homes.ts'
import { hookFindings } from '../common/hook-check.ts'
import { localHook, sharedHook } from '../common/hook-command.ts'
import { hookParts, hooksIn, inMilliseconds } from '../common/hook-parts.ts'
import { at } from '../common/json.ts'
import {
  isElsewhere,
  type JsonFile,
  jsonTarget,
  NAME,
  serverPart,
  settingsIn,
  sharedServerPart,
} from '../common/json-parts.ts'
import { below, seen } from '../common/path.ts'
import { pluginChange, pluginIn } from '../common/plugins.ts'
import { serverFindings } from '../common/server-check.ts'
import { giveWay, ownFile, plug, plugEither, type Target, unplugBoth } from '../common/target.ts'
import { type Client, type ClientContext, type Finding, READ_TOOLS } from '../common/types.ts'
import { EVENTS } from './events.ts'

const client = 'gemini'
const bad = (message: string, hint: string): Finding => ({ client, ok: false, message, hint })

const projectFile = (ctx: ClientContext): JsonFile => ({
  client,
  file: join(ctx.root, '.gemini', 'settings.json'),
  scope: 'committed',
  comments: true,
})
const homeFile = (ctx: ClientContext): JsonFile => ({
  client,
  file: join(geminiHome(ctx), 'settings.json'),
  scope: 'local',
  comments: true,
})

const project = (ctx: ClientContext): Target => {
  const f = projectFile(ctx)
  const server = sharedServerPart(f, ['mcpServers'], (c) => c)
  return jsonTarget(f, [server, ...hookParts(f, EVENTS, inMilliseconds, (event) => sharedHook(client, event))])
}
const home = (ctx: ClientContext): Target => {
  const f = homeFile(ctx)
  const value = localCommand(ctx)
  const server = serverPart(f, ['mcpServers'], value, (entry) => isElsewhere(entry, value))
  return jsonTarget(f, [server, ...hookParts(f, EVENTS, inMilliseconds, (event) => localHook(ctx, client, event))])
}

const POLICY_MARK = '# written by `tidemark init`, taken out by `tidemark uninstall`: changes are lost\n'
const policyFile = (ctx: ClientContext) => join(geminiHome(ctx), 'policies', 'tidemark.toml')
const isPolicyOfOurs = (text: string) => text.startsWith(POLICY_MARK)

/** What Gemini CLI runs without asking. It reads such rules from its home alone; without one, a headless run has none of our tools. */
function policy(ctx: ClientContext): Target | undefined {
  const there = readText(policyFile(ctx)) ?? ''
  const known = isPolicyOfOurs(there) ? there : ''
  const tools = [...READ_TOOLS, 'act'].filter((tool) => ctx.allow?.includes(tool) || known.includes(`"${tool}"`))
  if (tools.length === 0) return undefined
  const text = `${POLICY_MARK}[[rule]]
mcpName = "${NAME}"
toolName = ${JSON.stringify(tools)}
decision = "allow"
priority = 100
`
  return ownFile(client, policyFile(ctx), 'local', 'policy', text, isPolicyOfOurs)
}
const policies = (ctx: ClientContext): Target[] => [policy(ctx) ?? []].flat()

/** Gemini CLI takes neither servers nor hooks from the settings of a folder that it does not trust. */
function trustFinding(ctx: ClientContext): Finding[] {
  const users = settingsIn(homeFile(ctx))
  if (at(users, 'security', 'folderTrust', 'enabled') === false) return []
  const folders = settingsIn({ file: join(geminiHome(ctx), 'trustedFolders.json'), comments: true })
  const rule = Object.entries(folders).find(([path, how]) =>
    how === 'TRUST_PARENT'
      ? ctx.root.startsWith(join(path, '..'))
      : ctx.root === path || ctx.root.startsWith(`${path}/`),
  )
  if (rule && rule[1] !== 'DO_NOT_TRUST') return []
  return [
    bad(
      'Gemini CLI does not trust this folder, and then reads neither its servers nor its hooks',
      'start `gemini` here and trust the folder',
    ),
  ]
}

function check(ctx: ClientContext): Finding[] {
  const places = [projectFile(ctx), homeFile(ctx)]
  const plugin = pluginIn(ctx, client)
  const wired = places.flatMap((f) =>
    hooksIn(EVENTS, inMilliseconds, settingsIn(f)).map((hook) => ({ ...hook, file: f.file })),
  )
  if (plugin)
    return [
      { client, ok: true, message: `${plugin.id} is installed (${plugin.file})` },
      ...(wired.length > 0
        ? [
            bad(
              `the extension and hooks in ${wired[0]!.file} are both there; the extension's stay silent here`,
              'run `tidemark init` to take out what this machine wired, or `gemini extensions disable tidemark`',
            ),
          ]
        : []),
    ]
  const dir = below(ctx)
  if (dir && !wired.some((hook) => hook.file === homeFile(ctx).file))
    return [
      bad(
        `Gemini CLI reads .gemini/ only where it is started: in ${dir} it has neither the server nor the hooks`,
        `start \`gemini\` in ${ctx.root}`,
      ),
    ]
  const server = serverFindings(ctx, client, 'Gemini CLI', ['mcpServers', NAME], places)
  if (wired.length === 0 && server.some((f) => !f.ok)) return server // told of once
  const off = places.find((f) => at(settingsIn(f), 'hooksConfig', 'enabled') === false)
  return [
    ...server,
    ...(off ? [bad(`hooks are switched off in ${off.file} (hooksConfig.enabled)`, 'remove that line')] : []),
    ...hookFindings(ctx, EVENTS, 'Gemini CLI', wired),
    ...trustFinding(ctx),
  ]
}

/** Gemini CLI: server and hooks in `.gemini/settings.json`, or in the one of its home. */
export const gemini: Client = {
  name: client,
  title: 'Gemini CLI',
  events: EVENTS.events,
  detect(ctx) {
    const places = [join(ctx.root, '.gemini'), join(ctx.root, 'GEMINI.md'), geminiHome(ctx)]
    return seen(ctx, 'Gemini CLI', places, 'gemini')
  },
  files: (ctx) => [projectFile(ctx).file, homeFile(ctx).file, policyFile(ctx)],
  wire(ctx) {
    const plugin = pluginIn(ctx, client)
    if (!plugin)
      return [
        ...plugEither(ctx, [project(ctx)], [home(ctx)]),
        ...policies(ctx).map((t) => plug(ctx, t, 'lets it run the tools named there without asking, in every project')),
      ]
    return [pluginChange(client, plugin), ...[project(ctx), home(ctx)].flatMap((t) => giveWay(ctx, t, plugin.id))]
  },
  unwire: (ctx) => unplugBoth(ctx, [project(ctx)], [home(ctx), ...policies(ctx)]),
  check: (ctx) => guarded(client, () => check(ctx)),
}
