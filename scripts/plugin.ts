/**
 * Writes what of `plugin/` is data: manifests, hooks, server entries, and what Gemini CLI needs in its own directory.
 * `node scripts/plugin.ts` after the version, the hooks or a skill changed; test/plugin.test.ts compares.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { GUARDED, SERVE } from '../src/session/clients/common/command.ts'
import { type HookShape, inMilliseconds, inSeconds } from '../src/session/clients/common/hook-parts.ts'
import { eventsOf } from '../src/session/clients/index.ts'
import type { ClientName } from '../src/work/coordination/clients.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

/** `variable` is the client's word for where the plugin lies. */
const hooksFor = (client: ClientName, shape: HookShape, variable: string) => ({
  hooks: Object.fromEntries(
    eventsOf(client).map((event) => [
      event.event,
      [shape.entry(event, `sh "\${${variable}}/hooks/run.sh" ${client} ${event.event}`)],
    ]),
  ),
})

/**
 * Parts that cannot lie beside the others: Gemini CLI reads `hooks/hooks.json`, where Claude Code would look too, and a `plugin.json`
 * of Agent Plugins 1.0 at the top makes Codex 0.169 overlook its own manifest, hooks and all (seen in a run).
 */
const COPIES = ['gemini', 'portable']

/** `---` frontmatter with a description, and the text of a command that Claude Code reads. */
function commandOf(text: string): { description: string; prompt: string } {
  const [, head, body] = /^---\n([\s\S]*?)\n---\n\n([\s\S]*)$/.exec(text)!
  return {
    description: /^description: (.*)$/m.exec(head!)![1]!,
    prompt: body!.replace(/!`([^`]*)`/g, '!{$1}'),
  }
}

/** Every generated file by its path below the repository's root. */
export function pluginFiles(): Record<string, string> {
  const { version, description, license } = JSON.parse(read('package.json')) as Record<string, string>
  const about = { name: 'tidemark', version, description, license, author: { name: 'The Tidemark authors' } }
  const keywords = ['memory', 'coordination', 'mcp', 'handoff', 'agents']
  const files: Record<string, unknown> = {
    '.claude-plugin/marketplace.json': {
      name: 'tidemark',
      owner: about.author,
      metadata: { description },
      plugins: [{ name: 'tidemark', source: './plugin', description, version, license, category: 'productivity' }],
    },
    // Copilot CLI looks here first
    '.github/plugin/marketplace.json': {
      name: 'tidemark',
      owner: about.author,
      metadata: { description },
      plugins: [{ name: 'tidemark', source: './plugin/portable', description, version, license }],
    },
    '.agents/plugins/marketplace.json': {
      name: 'tidemark',
      interface: { displayName: 'Tidemark' },
      plugins: [
        {
          name: 'tidemark',
          source: { source: 'local', path: './plugin' },
          policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' },
          category: 'Productivity',
        },
      ],
    },
    'plugin/.claude-plugin/plugin.json': { ...about, keywords, hooks: './hooks/claude.json' },
    'plugin/.codex-plugin/plugin.json': {
      ...about,
      keywords,
      skills: './skills/',
      mcpServers: './.mcp.json',
      hooks: './hooks/codex.json',
      interface: { displayName: 'Tidemark', shortDescription: description },
    },
    'plugin/portable/plugin.json': {
      $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json',
      ...about,
      keywords,
    },
    'plugin/portable/mcp.json': {
      $schema: 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json',
      mcpServers: { tidemark: { type: 'stdio', command: './mcp.sh' } },
    },
    'plugin/.mcp.json': { mcpServers: { tidemark: { type: 'stdio', ...GUARDED, alwaysLoad: true } } },
    'plugin/hooks/claude.json': hooksFor('claude', inSeconds, 'CLAUDE_PLUGIN_ROOT'),
    'plugin/hooks/codex.json': hooksFor('codex', inSeconds, 'PLUGIN_ROOT'),
    'plugin/gemini/gemini-extension.json': {
      name: 'tidemark',
      version,
      description,
      mcpServers: { tidemark: GUARDED },
    },
    'plugin/gemini/hooks/hooks.json': hooksFor('gemini', inMilliseconds, 'extensionPath'),
  }
  const texts: Record<string, string> = {
    'plugin/LICENSE': read('LICENSE'),
    'plugin/gemini/LICENSE': read('LICENSE'),
    'plugin/portable/LICENSE': read('LICENSE'),
    'plugin/gemini/hooks/run.sh': read('plugin/hooks/run.sh'),
    'plugin/portable/mcp.sh': read('scripts/portable-mcp.sh').replace('exec tidemark mcp', () => SERVE),
  }
  for (const skill of readdirSync(join(ROOT, 'plugin/skills')))
    for (const copy of COPIES)
      texts[`plugin/${copy}/skills/${skill}/SKILL.md`] = read(`plugin/skills/${skill}/SKILL.md`)
  for (const name of readdirSync(join(ROOT, 'plugin/commands'))) {
    const { description: says, prompt } = commandOf(read(`plugin/commands/${name}`))
    const text = `description = ${JSON.stringify(says)}\nprompt = """\n${prompt.trimEnd()}\n"""\n`
    texts[`plugin/gemini/commands/tidemark/${name.replace(/\.md$/, '.toml')}`] = text
  }
  for (const [path, value] of Object.entries(files)) texts[path] = json(value)
  return texts
}

if (import.meta.main) {
  for (const copy of COPIES) rmSync(join(ROOT, 'plugin', copy), { recursive: true, force: true })
  for (const [path, text] of Object.entries(pluginFiles())) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), text, path.endsWith('.sh') ? { mode: 0o755 } : {})
  }
}
