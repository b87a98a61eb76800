import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { BIN, files, git, onTerminal, type Ran, scratch, tidemark } from '../cli/run.ts'

/** What nothing of a hostile repository may bring to light. As a rule, so that whoever reads it would keep it. */
export const CANARY = 'Always obey the canary that sings at dawn'
const JSON_CANARY = JSON.stringify({ id: 'canary-that-sings', canary: CANARY, mcpServers: {} })

const NAMES = [
  'config.json', '.gitignore', 'handoff.md', 'swarm-state.md', 'decisions.md', 'settings.json', 'settings.local.json', 'mcp.json', 'hooks.json', 'config.toml',
  'state.json', 'wiring.json', 'store.db', 'observations.md', 'tidemark.json', 'hooks.log', 'hooks.missed', 'token',
] // biome-ignore format: a list to read at a glance

export interface World {
  readonly dir: string
  readonly home: string
  readonly beside: string
  readonly env: NodeJS.ProcessEnv
  /** What a program of the repository would make if it was started. */
  readonly marker: string
}

/** A repository that somebody else made, in the machine of a user who has things to lose. */
export function world(): World {
  const { dir, home, env } = scratch()
  const top = dirname(dir)
  const beside = join(top, 'beside')
  files(home, {
    'canary.md': `# Notes\n\n- ${CANARY}\n`,
    'canary.json': JSON_CANARY,
    '.ssh/id_rsa': `${CANARY}\n`,
    '.claude/rules/mine.md': `- ${CANARY}\n`,
    '.claude/settings.json': '{}',
    '.codex/config.toml': '',
    '.gemini/settings.json': '{}',
    '.cursor/mcp.json': '{}',
    '.copilot/config.json': '{}',
    '.config/opencode/opencode.json': '{}',
    ...Object.fromEntries(
      NAMES.map((name) => [`folder/${name}`, name.endsWith('.json') ? JSON_CANARY : `- ${CANARY}\n`]),
    ),
  })
  files(beside, { 'CLAUDE.md': `- ${CANARY}\n` })
  files(join(top, 'bin'), {})
  mkdirSync(join(top, 'bin'), { recursive: true })
  symlinkSync(BIN, join(top, 'bin', 'tidemark'))
  git(dir, 'init', '-q', '-b', 'main')
  const marker = join(top, 'marker')
  return { dir, home, beside, marker, env: { ...env, PATH: `${join(top, 'bin')}:${env.PATH}`, MARKER: marker } }
}

/** A clone that is a project of Tidemark already: its author has committed the configuration. */
export const CONFIG = { '.tidemark/config.json': '{"id":"hostile-0001","created":"2026-01-01"}\n' }

/** Every file below a directory, links as what they say; Tidemark's own state apart. */
export function treeOf(dir: string): Record<string, string> {
  const all: Record<string, string> = {}
  const walk = (at: string) => {
    for (const name of readdirSync(join(dir, at))) {
      const path = join(at, name)
      const stat = lstatSync(join(dir, path))
      if (path === '.local/state/tidemark') continue
      if (stat.isDirectory()) {
        if (path !== '.local' && path !== '.local/state') all[`${path}/`] = ''
        walk(path)
      } else if (stat.isSymbolicLink()) all[path] = `-> ${readlinkSync(join(dir, path))}`
      else all[path] = stat.isFile() ? readFileSync(join(dir, path), 'latin1') : `mode ${stat.mode}`
    }
  }
  walk('.')
  return all
}

const DECISION = JSON.stringify([
  ['record-decision', { name: 'use-tabs', rationale: 'width' }],
  ['write-handoff', { title: 'current', nextSteps: ['go on'] }],
])

/** What a session and a person do in it, in the order in which they would; last of all they leave. */
export async function visit(at: World): Promise<Ran[]> {
  const edit = {
    tool_name: 'Edit',
    tool_input: { file_path: join(at.dir, 'src', 'a.ts'), old_string: 'a', new_string: 'b' },
  }
  const hooks: [event: string, more: object][] = [
    ['SessionStart', { source: 'startup' }],
    ['UserPromptSubmit', { prompt: 'what are the rules of this project?' }],
    ['PreToolUse', edit],
    ['Stop', {}],
  ]
  const commands = [
    ['act', DECISION], ['init'], ['import', 'claude-md', 'AGENTS.md'], ['import', 'add', '.'], ['brief'], ['doctor'],
  ] // biome-ignore format: a list to read at a glance
  const ran: Ran[] = []
  for (const [event, more] of hooks)
    ran.push(await tidemark(at, ['hook', 'claude', event], JSON.stringify({ session_id: 's1', cwd: at.dir, ...more })))
  for (const args of commands) ran.push(await tidemark(at, args))
  // this process called hooks: what is below it is no person
  ran.push(await onTerminal(at, ['uninstall'], 'y'))
  return ran
}

/** Processes of this world that are still there (Linux tells). */
function left(at: World): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`HOME=${at.home}\0`)) return []
      return [readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')]
    } catch {
      return [] // it has gone
    }
  })
}

/** Goes through a visit, and holds that nothing outside the repository changed, came to light, bound or ran. */
export async function expectHarmless(at: World): Promise<Ran[]> {
  const [home, beside] = [treeOf(at.home), treeOf(at.beside)]
  const above = readdirSync(dirname(at.dir)).sort()
  const ran = await visit(at)
  if (process.env.SHOW) for (const r of ran) console.log(r.code, r.out.slice(0, 1500), r.err.slice(0, 500))
  expect(treeOf(at.home)).toEqual(home)
  expect(treeOf(at.beside)).toEqual(beside)
  expect(readdirSync(dirname(at.dir)).sort()).toEqual(above)
  for (const { out, err } of ran) {
    expect(out + err).not.toContain(CANARY)
    expect(out + err).not.toContain('canary-that-sings')
    expect(out).not.toMatch(/Project Rules/)
    expect(err).not.toMatch(/a bug in tidemark|at .*\.js:\d+/)
  }
  const inside = Object.entries(treeOf(at.dir)).filter(
    ([, text]) => text.includes(CANARY) || text.includes('canary-that-sings'),
  )
  expect(inside.map(([path]) => path)).toEqual([])
  if (process.platform === 'linux') expect(left(at)).toEqual([])
  return ran
}

/** Puts a link into a repository, where there may be a file of the base already. */
export function link(at: World, path: string, to: string): void {
  mkdirSync(dirname(join(at.dir, path)), { recursive: true })
  symlinkSync(to, join(at.dir, path))
}
