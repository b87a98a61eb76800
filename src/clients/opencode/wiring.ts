import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { localCommand } from '../common/command.ts'
import { readText } from '../common/files.ts'
import { guarded } from '../common/finding.ts'
import { opencodeHome } from '../common/homes.ts'
import { headedTarget, isElsewhere, type JsonFile, NAME, serverPart, sharedServerPart } from '../common/json-parts.ts'
import { findOnPath, seen } from '../common/path.ts'
import { serverFindings } from '../common/server-check.ts'
import { ownFile, type Part, plugEither, type Target, unplugBoth } from '../common/target.ts'
import type { Client, ClientContext, Finding } from '../common/types.ts'
import { EVENTS } from './events.ts'
import { commandIn, isPluginOfOurs, pluginText } from './plugin.ts'

const client = 'opencode'

/** Its settings in a folder: `opencode.jsonc` if there is one, for it reads both. */
function settingsIn(dir: string, scope: Target['scope']): JsonFile {
  const withComments = join(dir, 'opencode.jsonc')
  const file = existsSync(withComments) ? withComments : join(dir, 'opencode.json')
  return { client, file, scope, comments: true }
}
const projectFile = (ctx: ClientContext) => settingsIn(ctx.root, 'committed')
const homeFile = (ctx: ClientContext) => settingsIn(opencodeHome(ctx), 'local')
const projectPlugin = (ctx: ClientContext) => join(ctx.root, '.opencode', 'plugins', 'tidemark.js')
const homePlugin = (ctx: ClientContext) => join(opencodeHome(ctx), 'plugins', 'tidemark.js')

type Command = ReturnType<typeof localCommand>
const entryOf = ({ command, args }: Command) => ({ type: 'local', command: [command, ...args], enabled: true })

// opencode puts this line into every file that it reads without one (seen in 1.18.33)
const serverTarget = (f: JsonFile, part: Part): Target =>
  headedTarget(f, [part], '$schema', 'https://opencode.ai/config.json')

const pluginTarget = (file: string, scope: Target['scope'], command: string[]): Target =>
  ownFile(client, file, scope, 'plugin', pluginText(command), isPluginOfOurs)

const project = (ctx: ClientContext): Target[] => [
  serverTarget(projectFile(ctx), sharedServerPart(projectFile(ctx), ['mcp'], entryOf)),
  pluginTarget(projectPlugin(ctx), 'committed', [NAME]),
]
const home = (ctx: ClientContext): Target[] => {
  const { command, args } = localCommand(ctx)
  const f = homeFile(ctx)
  const value = entryOf({ command, args })
  return [
    serverTarget(
      f,
      serverPart(f, ['mcp'], value, (entry) => isElsewhere(entry, value)),
    ),
    pluginTarget(homePlugin(ctx), 'local', [command, args[0]!]),
  ]
}

function pluginFindings(ctx: ClientContext): Finding[] {
  const bad = (message: string, hint: string): Finding => ({ client, ok: false, message, hint })
  const there = [projectPlugin(ctx), homePlugin(ctx)].flatMap((file) => {
    const text = readText(file)
    return text !== null && isPluginOfOurs(text) ? [{ file, text }] : []
  })
  const rewire = 'run `tidemark init --client opencode`'
  if (there.length === 0) return [bad('opencode has no plugin of Tidemark, so no hooks', rewire)]
  if (there.length > 1)
    return [bad(`opencode loads our plugin twice: ${there.map((t) => t.file).join(' and ')}`, rewire)]
  const { file, text } = there[0]!
  const command = commandIn(text)
  if (text !== pluginText(command)) return [bad(`${file} was written by another version of Tidemark`, rewire)]
  const gone = command.find((word) => word.startsWith('/') && !existsSync(word))
  if (gone) return [bad(`${file}: ${gone} does not exist any more`, `${rewire} again from where it lies`)]
  if (command[0] === NAME && !findOnPath(NAME, ctx.env ?? process.env))
    return [bad(`${file}: tidemark is not on the PATH of this machine`, 'install it with `npm install -g tidemark`')]
  return [{ client, ok: true, message: `opencode calls hooks from ${file}` }]
}

/** opencode: the server in `opencode.json`, the hooks through a small plugin; in the project, or in its home. */
export const opencode: Client = {
  name: client,
  title: 'opencode',
  events: EVENTS.events,
  detect(ctx) {
    const places = [join(ctx.root, '.opencode'), projectFile(ctx).file, opencodeHome(ctx)]
    return seen(ctx, 'opencode', places, 'opencode')
  },
  files: (ctx) => [
    ...[ctx.root, opencodeHome(ctx)].flatMap((dir) => [join(dir, 'opencode.jsonc'), join(dir, 'opencode.json')]),
    projectPlugin(ctx),
    homePlugin(ctx),
  ],
  wire: (ctx) => plugEither(ctx, project(ctx), home(ctx)),
  unwire: (ctx) => unplugBoth(ctx, project(ctx), home(ctx)),
  check: (ctx) =>
    guarded(client, () => {
      const server = serverFindings(ctx, client, 'opencode', ['mcp', NAME], [projectFile(ctx), homeFile(ctx)])
      const plugin = pluginFindings(ctx)
      return server.some((f) => !f.ok) && plugin.some((f) => !f.ok && f.message.includes('has no plugin'))
        ? server
        : [...server, ...plugin]
    }),
}
