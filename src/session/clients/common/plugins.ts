import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { claudeSettings, codexHome, geminiHome } from './homes.ts'
import { at } from './json.ts'
import { settingsIn } from './json-parts.ts'
import { giveWay, leave, type Target } from './target.ts'
import { tomlIn } from './toml.ts'
import type { ClientContext, WiringChange } from './types.ts'

export type Plugin = { id: string; file: string }

/** `tidemark@some-marketplace`, as Claude Code and Codex call an installed plugin. */
const isPlugin = (id: string) => /^tidemark@/.test(id)

const codexPlugin = (ctx: ClientContext): Plugin | undefined => {
  const file = join(codexHome(ctx), 'config.toml')
  const plugins = at(tomlIn(file), 'plugins')
  if (typeof plugins !== 'object' || plugins === null) return undefined
  const id = Object.keys(plugins).find((key) => isPlugin(key) && at(plugins, key, 'enabled') !== false)
  return id === undefined ? undefined : { id, file }
}

const claudePlugin = (ctx: ClientContext): Plugin | undefined => {
  const said = new Set<string>()
  for (const file of claudeSettings(ctx)) {
    const enabled = at(settingsIn({ file }), 'enabledPlugins')
    if (typeof enabled !== 'object' || enabled === null) continue
    for (const [id, on] of Object.entries(enabled)) {
      if (!isPlugin(id) || said.has(id)) continue
      if (on !== false) return { id, file }
      said.add(id) // switched off nearer by
    }
  }
  return undefined
}

const geminiPlugin = (ctx: ClientContext): Plugin | undefined => {
  const extensions = join(geminiHome(ctx), 'extensions')
  const dir = join(extensions, 'tidemark')
  // of one that is only linked, the folder holds the link alone
  const there = ['gemini-extension.json', '.gemini-extension-install.json'].some((name) => existsSync(join(dir, name)))
  if (!there) return undefined
  const rules = at(settingsIn({ file: join(extensions, 'extension-enablement.json') }), 'tidemark', 'overrides')
  const off = Array.isArray(rules) && rules.length > 0 && rules.every((rule) => `${rule}`.startsWith('!'))
  return off ? undefined : { id: 'the extension tidemark', file: dir }
}

/** Our plugin, where it is installed and switched on: then nothing is to be wired by hand. */
export function pluginIn(ctx: ClientContext, client: 'claude' | 'codex' | 'gemini'): Plugin | undefined {
  if (client === 'claude') return claudePlugin(ctx)
  return client === 'codex' ? codexPlugin(ctx) : geminiPlugin(ctx)
}

export function planPlugin(
  ctx: ClientContext,
  client: string,
  { id, file }: Plugin,
  targets: Target[],
): WiringChange[] {
  const why = `${id} is installed and brings the server and the hooks, so nothing is wired by hand`
  return [leave({ client, file, scope: 'local' }, null, why), ...targets.flatMap((t) => giveWay(ctx, t, id))]
}
