import { join } from 'node:path'
import { type Check, wrong } from '../../hooks/doctor-line.ts'
import { guarded } from '../common/check.ts'
import { copilotHome } from '../common/homes.ts'
import { listened } from '../common/hook-command.ts'
import { at } from '../common/json.ts'
import { MCP_JSON, mcpJsonEntry, settingsIn, versionedTarget } from '../common/json-parts.ts'
import { twoPlaces } from '../common/two-places.ts'
import type { Client, ClientContext } from '../common/types.ts'
import { copilot as dialect } from './dialect.ts'

const EVENTS = listened(dialect, [
  'sessionStart', 'userPromptSubmitted', 'preToolUse', 'postToolUse', 'agentStop', 'sessionEnd',
]) // biome-ignore format: a list to read at a glance

const projectHooks = (ctx: ClientContext) => join(ctx.root, '.github', 'hooks', 'tidemark.json')

const { client, wired } = twoPlaces({
  name: 'copilot',
  events: EVENTS,
  signs: (ctx) => [projectHooks(ctx), join(ctx.root, '.github', 'copilot-instructions.md'), copilotHome(ctx)],
  commands: ['copilot'],
  servers: (ctx, scope) => ({
    file: scope === 'committed' ? join(ctx.root, MCP_JSON) : join(copilotHome(ctx), 'mcp-config.json'),
  }),
  path: ['mcpServers'],
  entry: (command, scope) =>
    scope === 'committed' ? mcpJsonEntry(command) : { type: 'local', ...command, tools: ['*'] },
  hooks: (ctx, scope) => ({
    file: scope === 'committed' ? projectHooks(ctx) : join(copilotHome(ctx), 'hooks', 'tidemark.json'),
  }),
  // the spelling of an event decides in which form it is handed over; ours are in Copilot's own. Both would fire twice
  shape: {
    path: ['hooks'],
    nested: false,
    entry: (event, command) => ({ type: 'command', bash: command, timeoutSec: event.seconds }),
  },
  hookTarget: versionedTarget,
})

/** In a folder that it does not trust, Copilot CLI leaves out the project's servers and hooks without a word (seen in 1.0.102). */
function checkTrust(ctx: ClientContext): Check[] {
  if (!wired(ctx).some((hook) => hook.file === projectHooks(ctx))) return []
  const config = settingsIn({ file: join(copilotHome(ctx), 'config.json'), comments: true })
  const covers = (folder: unknown) =>
    typeof folder === 'string' && (ctx.root === folder || ctx.root.startsWith(`${folder.replace(/\/$/, '')}/`))
  if ([at(config, 'trustedFolders'), at(config, 'trusted_folders')].flat().some(covers)) return []
  return [
    wrong(
      'copilot.trust',
      'Copilot CLI does not trust this folder: it leaves out the server and the hooks of the project, and says nothing',
      'start `copilot` here and trust the folder for good',
    ),
  ]
}

export const copilot: Client = {
  ...client,
  check: (ctx) => guarded(client.name, () => [...client.check(ctx), ...checkTrust(ctx)]),
}
