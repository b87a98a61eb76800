import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Check, off, ok, wrong } from '../../hooks/doctor-line.ts'
import { checkServerIn, guarded, together } from '../common/check.ts'
import { localCommand } from '../common/command.ts'
import { readText } from '../common/files.ts'
import { opencodeHome } from '../common/homes.ts'
import { headedTarget, type JsonFile, localServerPart, NAME, sharedServerPart } from '../common/json-parts.ts'
import { findOnPath, seen } from '../common/path.ts'
import { ownFile, plugEither, type Target, unplugBoth } from '../common/target.ts'
import { SCOPES } from '../common/two-places.ts'
import type { Client, ClientContext } from '../common/types.ts'
import { commandIn, EVENTS, isPluginOfOurs, pluginText } from './plugin.ts'

const client = 'opencode'
type Scope = Target['scope']

const folder = (ctx: ClientContext, scope: Scope) => (scope === 'committed' ? ctx.root : opencodeHome(ctx))

function settings(ctx: ClientContext, scope: Scope): JsonFile {
  const withComments = join(folder(ctx, scope), 'opencode.jsonc')
  const file = existsSync(withComments) ? withComments : join(folder(ctx, scope), 'opencode.json')
  return { client, file, scope, comments: true }
}
const pluginFile = (ctx: ClientContext, scope: Scope) =>
  join(scope === 'committed' ? join(ctx.root, '.opencode') : opencodeHome(ctx), 'plugins', 'tidemark.js')

const entryOf = ({ command, args }: ReturnType<typeof localCommand>) => ({
  type: 'local',
  command: [command, ...args],
  enabled: true,
})

function targets(ctx: ClientContext, scope: Scope): Target[] {
  const f = settings(ctx, scope)
  const { command, args } = localCommand(ctx)
  const isLocal = scope === 'local'
  const server = isLocal
    ? localServerPart(f, ['mcp'], entryOf({ command, args }))
    : sharedServerPart(f, ['mcp'], entryOf)
  const plugin = pluginText(isLocal ? [command, args[0]!] : [NAME])
  return [
    // opencode puts this line into every file that it reads without one (seen in 1.18.33)
    headedTarget(f, [server], '$schema', 'https://opencode.ai/config.json'),
    ownFile(client, pluginFile(ctx, scope), scope, 'plugin', plugin, isPluginOfOurs),
  ]
}

function checkPlugin(ctx: ClientContext): Check {
  const id = 'opencode.plugin'
  const there = SCOPES.flatMap((scope) => {
    const file = pluginFile(ctx, scope)
    const text = readText(file)
    return text !== null && isPluginOfOurs(text) ? [{ file, text }] : []
  })
  const rewire = 'run `tidemark init --client opencode`'
  if (there.length === 0) return off(id, 'opencode has no plugin of Tidemark, so no hooks', rewire)
  if (there.length > 1)
    return wrong(id, `opencode loads our plugin twice: ${there.map((t) => t.file).join(' and ')}`, rewire)
  const { file, text } = there[0]!
  const command = commandIn(text)
  if (text !== pluginText(command)) return wrong(id, `${file} was written by another version of Tidemark`, rewire)
  const gone = command.find((word) => word.startsWith('/') && !existsSync(word))
  if (gone) return wrong(id, `${file}: ${gone} does not exist any more`, `${rewire} again from where it lies`)
  if (command[0] === NAME && !findOnPath(NAME, ctx.env ?? process.env)) {
    const why = `${file}: tidemark is not on the PATH of this machine`
    return wrong(id, why, 'install it with `npm install -g tidemark`')
  }
  return ok(id, `opencode calls hooks from ${file}`)
}

export const opencode: Client = {
  name: client,
  events: EVENTS,
  detect(ctx) {
    const places = [join(ctx.root, '.opencode'), settings(ctx, 'committed').file, opencodeHome(ctx)]
    return seen(ctx, client, places, 'opencode')
  },
  files: (ctx) =>
    SCOPES.flatMap((scope) => [
      ...['opencode.jsonc', 'opencode.json'].map((name) => join(folder(ctx, scope), name)),
      pluginFile(ctx, scope),
    ]),
  wire: (ctx) => plugEither(ctx, targets(ctx, 'committed'), targets(ctx, 'local')),
  unwire: (ctx) => unplugBoth(ctx, targets(ctx, 'committed'), targets(ctx, 'local')),
  check: (ctx) =>
    guarded(client, () => {
      const files = SCOPES.map((scope) => settings(ctx, scope))
      return together(checkServerIn(ctx, opencode, ['mcp', NAME], files), [checkPlugin(ctx)])
    }),
}
