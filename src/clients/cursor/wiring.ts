import { join } from 'node:path'
import { localCommand } from '../common/command.ts'
import { guarded } from '../common/finding.ts'
import { cursorHome } from '../common/homes.ts'
import { hookFindings } from '../common/hook-check.ts'
import { localHook, sharedHook } from '../common/hook-command.ts'
import { type HookShape, hookParts, hooksIn } from '../common/hook-parts.ts'
import {
  isElsewhere,
  type JsonFile,
  jsonTarget,
  NAME,
  serverPart,
  settingsIn,
  sharedServerPart,
  versionedTarget,
} from '../common/json-parts.ts'
import { seen } from '../common/path.ts'
import { serverFindings } from '../common/server-check.ts'
import { plugEither, type Target, unplugBoth } from '../common/target.ts'
import type { Client, ClientContext } from '../common/types.ts'
import { EVENTS } from './events.ts'

const client = 'cursor'

/** Cursor writes the hooks of an event one after the other; seconds. */
const SHAPE: HookShape = {
  path: ['hooks'],
  nested: false,
  entry: (event, command) => ({ command, timeout: event.seconds }),
}

const inProject = (ctx: ClientContext, name: string): JsonFile => ({
  client,
  file: join(ctx.root, '.cursor', name),
  scope: 'committed',
  comments: true,
})
const inHome = (ctx: ClientContext, name: string): JsonFile => ({
  client,
  file: join(cursorHome(ctx), name),
  scope: 'local',
  comments: true,
})

const project = (ctx: ClientContext): Target[] => {
  const [mcp, hooks] = [inProject(ctx, 'mcp.json'), inProject(ctx, 'hooks.json')]
  return [
    jsonTarget(mcp, [sharedServerPart(mcp, ['mcpServers'], (c) => c)]),
    versionedTarget(
      hooks,
      hookParts(hooks, EVENTS, SHAPE, (event) => sharedHook(client, event)),
    ),
  ]
}
const home = (ctx: ClientContext): Target[] => {
  const [mcp, hooks] = [inHome(ctx, 'mcp.json'), inHome(ctx, 'hooks.json')]
  const value = localCommand(ctx)
  return [
    jsonTarget(mcp, [serverPart(mcp, ['mcpServers'], value, (entry) => isElsewhere(entry, value))]),
    versionedTarget(
      hooks,
      hookParts(hooks, EVENTS, SHAPE, (event) => localHook(ctx, client, event)),
    ),
  ]
}

/** Cursor: `.cursor/mcp.json` and `.cursor/hooks.json`, or those of its home. */
export const cursor: Client = {
  name: client,
  title: 'Cursor',
  events: EVENTS.events,
  detect(ctx) {
    const places = [join(ctx.root, '.cursor'), join(ctx.root, '.cursorrules'), cursorHome(ctx)]
    return seen(ctx, 'Cursor', places, 'cursor', 'cursor-agent')
  },
  files: (ctx) => ['mcp.json', 'hooks.json'].flatMap((name) => [inProject(ctx, name).file, inHome(ctx, name).file]),
  wire: (ctx) => plugEither(ctx, project(ctx), home(ctx)),
  unwire: (ctx) => unplugBoth(ctx, project(ctx), home(ctx)),
  check: (ctx) =>
    guarded(client, () => {
      const files = [inProject(ctx, 'hooks.json'), inHome(ctx, 'hooks.json')]
      const wired = files.flatMap((f) => hooksIn(EVENTS, SHAPE, settingsIn(f)).map((h) => ({ ...h, file: f.file })))
      const server = serverFindings(
        ctx,
        client,
        'Cursor',
        ['mcpServers', NAME],
        [inProject(ctx, 'mcp.json'), inHome(ctx, 'mcp.json')],
      )
      if (wired.length === 0 && server.some((f) => !f.ok)) return server // told of once
      return [...server, ...hookFindings(ctx, EVENTS, 'Cursor', wired)]
    }),
}
