import { join } from 'node:path'
import { cursorHome } from '../common/homes.ts'
import { listened } from '../common/hook-command.ts'
import { versionedTarget } from '../common/json-parts.ts'
import { twoPlaces } from '../common/two-places.ts'
import type { ClientContext } from '../common/types.ts'
import { cursor as dialect } from './dialect.ts'

const EVENTS = listened(dialect, [
  'sessionStart', 'beforeSubmitPrompt', 'preToolUse', 'postToolUse', 'postToolUseFailure', 'afterFileEdit', 'subagentStart', 'subagentStop', 'preCompact', 'stop', 'sessionEnd',
]) // biome-ignore format: a list to read at a glance

const folder = (ctx: ClientContext, scope: 'committed' | 'local') =>
  scope === 'committed' ? join(ctx.root, '.cursor') : cursorHome(ctx)

export const cursor = twoPlaces({
  name: 'cursor',
  events: EVENTS,
  signs: (ctx) => [join(ctx.root, '.cursor'), join(ctx.root, '.cursorrules'), cursorHome(ctx)],
  commands: ['cursor', 'cursor-agent'],
  servers: (ctx, scope) => ({ file: join(folder(ctx, scope), 'mcp.json'), comments: true }),
  path: ['mcpServers'],
  entry: (command) => command,
  hooks: (ctx, scope) => ({ file: join(folder(ctx, scope), 'hooks.json'), comments: true }),
  // the hooks of an event one after the other; seconds
  shape: { path: ['hooks'], nested: false, entry: (event, command) => ({ command, timeout: event.seconds }) },
  hookTarget: versionedTarget,
}).client
