import { join } from 'node:path'
import { type Check, wrong } from '../../hooks/doctor-line.ts'
import { checkPlugin, guarded, type Judged } from '../common/check.ts'
import { readText } from '../common/files.ts'
import { geminiHome } from '../common/homes.ts'
import { listened } from '../common/hook-command.ts'
import { inMilliseconds } from '../common/hook-parts.ts'
import { at } from '../common/json.ts'
import { NAME, settingsIn } from '../common/json-parts.ts'
import { below } from '../common/path.ts'
import { planPlugin, pluginIn } from '../common/plugins.ts'
import { ownFile, plug, type Target, unplugBoth } from '../common/target.ts'
import { SCOPES, twoPlaces } from '../common/two-places.ts'
import { type Client, type ClientContext, READ_TOOLS } from '../common/types.ts'
import { gemini as dialect } from './dialect.ts'

const WRITES = 'write_file|replace|edit|run_shell_command'
const TOOLS = `^(${WRITES}|mcp_tidemark_.*)$`

const NAMES = [
  'SessionStart', 'BeforeAgent', 'BeforeTool', 'AfterTool', 'AfterAgent', 'PreCompress', 'SessionEnd',
] // biome-ignore format: a list to read at a glance

const EVENTS = listened(dialect, NAMES, {
  BeforeTool: { matcher: TOOLS },
  AfterTool: { matcher: `^(${WRITES}|read_file|mcp_tidemark_.*)$`, former: { matcher: TOOLS } },
  // it asks before every turn whether to compress: only a person's wish is worth a process
  PreCompress: { matcher: 'manual' },
})

const settings = (ctx: ClientContext, scope: (typeof SCOPES)[number]) => ({
  file: join(scope === 'committed' ? join(ctx.root, '.gemini') : geminiHome(ctx), 'settings.json'),
  comments: true,
})

const { client, targets, wired } = twoPlaces({
  name: 'gemini',
  events: EVENTS,
  signs: (ctx) => [join(ctx.root, '.gemini'), join(ctx.root, 'GEMINI.md'), geminiHome(ctx)],
  commands: ['gemini'],
  servers: settings,
  path: ['mcpServers'],
  entry: (command) => command,
  shape: inMilliseconds,
})

const POLICY_MARK = '# written by `tidemark init`, taken out by `tidemark uninstall`: changes are lost\n'
const policyFile = (ctx: ClientContext) => join(geminiHome(ctx), 'policies', 'tidemark.toml')
const isPolicyOfOurs = (text: string) => text.startsWith(POLICY_MARK)

/** What Gemini CLI runs without asking. It reads such rules from its home alone; without one, a headless run has none of our tools. */
function policies(ctx: ClientContext): Target[] {
  const there = readText(policyFile(ctx)) ?? ''
  const known = isPolicyOfOurs(there) ? there : ''
  const tools = [...READ_TOOLS, 'act'].filter((tool) => ctx.allow?.includes(tool) || known.includes(`"${tool}"`))
  if (tools.length === 0) return []
  const text = `${POLICY_MARK}[[rule]]
mcpName = "${NAME}"
toolName = ${JSON.stringify(tools)}
decision = "allow"
priority = 100
`
  return [ownFile('gemini', policyFile(ctx), 'local', 'policy', text, isPolicyOfOurs)]
}

/** Gemini CLI takes neither servers nor hooks from the settings of a folder that it does not trust. */
function checkTrust(ctx: ClientContext): Check[] {
  if (at(settingsIn(settings(ctx, 'local')), 'security', 'folderTrust', 'enabled') === false) return []
  const folders = settingsIn({ file: join(geminiHome(ctx), 'trustedFolders.json'), comments: true })
  const rule = Object.entries(folders).find(([path, how]) =>
    how === 'TRUST_PARENT'
      ? ctx.root.startsWith(join(path, '..'))
      : ctx.root === path || ctx.root.startsWith(`${path}/`),
  )
  if (rule && rule[1] !== 'DO_NOT_TRUST') return []
  const text = 'Gemini CLI does not trust this folder, and then reads neither its servers nor its hooks'
  return [wrong('gemini.trust', text, 'start `gemini` here and trust the folder')]
}

function check(ctx: ClientContext): Judged {
  const plugin = pluginIn(ctx, 'gemini')
  const hooks = wired(ctx)
  if (plugin) return checkPlugin(client, plugin, hooks, 'extension', 'gemini extensions disable tidemark')
  const dir = below(ctx)
  if (dir && !hooks.some((hook) => hook.file === settings(ctx, 'local').file)) {
    const text = `Gemini CLI reads .gemini/ only where it is started: in ${dir} it has neither the server nor the hooks`
    return [wrong('gemini.folder', text, `start \`gemini\` in ${ctx.root}`)]
  }
  const found = client.check(ctx)
  if (hooks.length === 0 && found[0]!.state !== 'ok') return found
  const off = SCOPES.map((scope) => settings(ctx, scope)).find(
    (f) => at(settingsIn(f), 'hooksConfig', 'enabled') === false,
  )
  return [
    ...found,
    off && wrong('gemini.switch', `hooks are switched off in ${off.file} (hooksConfig.enabled)`, 'remove that line'),
    ...checkTrust(ctx),
  ]
}

export const gemini: Client = {
  ...client,
  files: (ctx) => [...client.files(ctx), policyFile(ctx)],
  wire(ctx) {
    const plugin = pluginIn(ctx, 'gemini')
    if (plugin) {
      const files = SCOPES.flatMap((scope) => targets(ctx, scope))
      return planPlugin(ctx, 'gemini', plugin, files)
    }
    const why = 'lets it run the tools named there without asking, in every project'
    return [...client.wire(ctx), ...policies(ctx).map((t) => plug(ctx, t, why))]
  },
  unwire: (ctx) => unplugBoth(ctx, targets(ctx, 'committed'), [...targets(ctx, 'local'), ...policies(ctx)]),
  check: (ctx) => guarded('gemini', () => check(ctx)),
}
