import { join } from 'node:path'
import { localCommand } from '../common/command.ts'
import { guarded } from '../common/finding.ts'
import { copilotHome } from '../common/homes.ts'
import { hookFindings } from '../common/hook-check.ts'
import { localHook, sharedHook } from '../common/hook-command.ts'
import { type HookShape, hookParts, hooksIn } from '../common/hook-parts.ts'
import { at } from '../common/json.ts'
import {
  isElsewhere,
  type JsonFile,
  jsonTarget,
  NAME,
  serverPart,
  settingsIn,
  versionedTarget,
} from '../common/json-parts.ts'
import { mcpJson, mcpJsonTarget } from '../common/mcp-json.ts'
import { seen } from '../common/path.ts'
import { serverFindings } from '../common/server-check.ts'
import { plugEither, type Target, unplugBoth } from '../common/target.ts'
import type { Client, ClientContext, Finding } from '../common/types.ts'
import { EVENTS } from './events.ts'

const client = 'copilot'

/**
 * The spelling of an event decides in which form Copilot CLI hands it over; ours are in its own. Both would fire twice.
 */
const SHAPE: HookShape = {
  path: ['hooks'],
  nested: false,
  entry: (event, command) => ({ type: 'command', bash: command, timeoutSec: event.seconds }),
}

const projectHooks = (ctx: ClientContext): JsonFile => ({
  client,
  file: join(ctx.root, '.github', 'hooks', 'tidemark.json'),
  scope: 'committed',
})
const homeHooks = (ctx: ClientContext): JsonFile => ({
  client,
  file: join(copilotHome(ctx), 'hooks', 'tidemark.json'),
  scope: 'local',
})
const homeServers = (ctx: ClientContext): JsonFile => ({
  client,
  file: join(copilotHome(ctx), 'mcp-config.json'),
  scope: 'local',
})

const hooks = (f: JsonFile, command: (event: string) => string) =>
  versionedTarget(f, hookParts(f, EVENTS, SHAPE, command))

const project = (ctx: ClientContext): Target[] => [
  mcpJsonTarget(ctx, client),
  hooks(projectHooks(ctx), (event) => sharedHook(client, event)),
]
const home = (ctx: ClientContext): Target[] => {
  const f = homeServers(ctx)
  const value = { type: 'local', ...localCommand(ctx), tools: ['*'] }
  return [
    jsonTarget(f, [serverPart(f, ['mcpServers'], value, (entry) => isElsewhere(entry, value))]),
    hooks(homeHooks(ctx), (event) => localHook(ctx, client, event)),
  ]
}

/** In a folder that it does not trust, Copilot CLI leaves out the project's servers and hooks without a word (seen in 1.0.102). */
function trustFinding(ctx: ClientContext): Finding[] {
  const config = settingsIn({ file: join(copilotHome(ctx), 'config.json'), comments: true })
  const folders = [at(config, 'trustedFolders'), at(config, 'trusted_folders')].flat()
  const covers = (folder: unknown) =>
    typeof folder === 'string' && (ctx.root === folder || ctx.root.startsWith(`${folder.replace(/\/$/, '')}/`))
  if (folders.some(covers)) return []
  return [
    {
      client,
      ok: false,
      message:
        'Copilot CLI does not trust this folder: it leaves out the server and the hooks of the project, and says nothing',
      hint: 'start `copilot` here and trust the folder for good',
    },
  ]
}

function check(ctx: ClientContext): Finding[] {
  const files = [projectHooks(ctx), homeHooks(ctx)]
  const wired = files.flatMap((f) => hooksIn(EVENTS, SHAPE, settingsIn(f)).map((h) => ({ ...h, file: f.file })))
  const servers = [mcpJson(ctx, client), homeServers(ctx)]
  const server = serverFindings(ctx, client, 'Copilot CLI', ['mcpServers', NAME], servers)
  if (wired.length === 0 && server.some((f) => !f.ok)) return server // told of once
  const needsTrust = wired.some((hook) => hook.file === projectHooks(ctx).file)
  return [...server, ...hookFindings(ctx, EVENTS, 'Copilot CLI', wired), ...(needsTrust ? trustFinding(ctx) : [])]
}

/** Copilot CLI: `.mcp.json` and a file of its own in `.github/hooks`, or both in its home. */
export const copilot: Client = {
  name: client,
  title: 'Copilot CLI',
  events: EVENTS.events,
  detect(ctx) {
    const places = [projectHooks(ctx).file, join(ctx.root, '.github', 'copilot-instructions.md'), copilotHome(ctx)]
    return seen(ctx, 'Copilot CLI', places, 'copilot')
  },
  files: (ctx) => [mcpJson(ctx, client), projectHooks(ctx), homeHooks(ctx), homeServers(ctx)].map((f) => f.file),
  wire: (ctx) => plugEither(ctx, project(ctx), home(ctx)),
  unwire: (ctx) => unplugBoth(ctx, project(ctx), home(ctx)),
  check: (ctx) => guarded(client, () => check(ctx)),
}
